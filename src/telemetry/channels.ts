/** @module Names the channels on which a run is published to listeners in this process. */
import { type Channel, channel } from "node:diagnostics_channel";
import { exitCodes } from "../model/errors.ts";

/** Publishes the manifest's name once it is read: `{ name }`. */
export const manifestRead: Channel = channel("graphform:manifest");

/** Publishes each event of an apply: an `ApplyEvent`. */
export const stepEvents: Channel = channel("graphform:step");

type RunResult = "success" | "failure" | "timeout" | "cancellation" | "error";

/** The result that an exit code means: "failure" if the tool worked and refused, "error" if it could not work. */
export function resultOf(exitCode: number): RunResult {
  return results[exitCode] ?? "failure";
}

const results: { readonly [exitCode: number]: RunResult } = {
  [exitCodes.done]: "success",
  [exitCodes.changes]: "success",
  [exitCodes.converging]: "timeout",
  [exitCodes.interrupted]: "cancellation",
  [exitCodes.error]: "error",
};
