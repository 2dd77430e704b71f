import type { JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Header, ServiceSection } from "../model/manifest.ts";
import type { Problem } from "../model/problem.ts";
import { finishProblems } from "./finish-problems.ts";
import { type Frame, type FrameInputs, readFrame } from "./frame.ts";
import { manifestBlot } from "./manifest-blot.ts";
import type { Parsed } from "./source.ts";

/**
 * What must be known first: whose state, which service. The header is there whenever these can be told, whatever
 * else is wrong. `resolveManifest` reports everything that is reported here, and more.
 */
export function readHeader(
  parsed: Parsed,
  inputs: FrameInputs,
): { readonly header?: Header; readonly problems: readonly Problem[] } {
  const frame = parsed.value === undefined ? undefined : readFrame(parsed, parsed.value, inputs);
  const findings = [...parsed.findings, ...(frame?.findings ?? [])];
  const problems = finishProblems(findings, "error", parsed.layers, manifestBlot(parsed, inputs.kinds));
  const header = frame === undefined ? undefined : headerOf(frame);
  return header === undefined ? { problems } : { header, problems };
}

/** The header of a frame, or undefined where one of its parts is wrong. */
export function headerOf(frame: Frame): Header | undefined {
  const name = frame.value["name"];
  const needed = ["apiVersion", "name", "service", "state"];
  if (typeof name !== "string" || needed.some((key) => frame.broken.has(key))) return undefined;
  const service = frame.value["service"];
  const state = frame.value["state"];
  const header = { name, state: isObject(state) ? state : {} };
  return isObject(service) ? { ...header, service: serviceOf(service) } : header;
}

function serviceOf(section: JsonObject): ServiceSection {
  const { subscriptions } = section;
  return {
    ...textsOf(section),
    ...(isObject(subscriptions) ? { subscriptions: textsOf(subscriptions) } : {}),
  };
}

function textsOf(section: JsonObject): { readonly [name: string]: string } {
  const texts = Object.entries(section).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return Object.fromEntries(texts);
}
