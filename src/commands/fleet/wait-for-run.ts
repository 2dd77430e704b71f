/** @module Follows a run of the controller to its end, or to where a person must decide. */
import { type ExitCode, exitCodes } from "../../model/errors.ts";
import { isObject, type JsonObject, objectsIn, textIn } from "../../model/json.ts";
import { escapeText } from "../../report/typeset.ts";
import { elapsedTime } from "../../report/words.ts";
import type { ControllerClient } from "./controller-client.ts";

/** Exit codes of ends that have none of their own; those of an apply are in the run. */
const ofStatus: { readonly [status: string]: ExitCode } = {
  applied: exitCodes.done,
  planned_and_finished: exitCodes.done,
  blocked: exitCodes.blocked,
  needs_approval: exitCodes.waitingForPerson,
  discarded: exitCodes.blocked,
  superseded: exitCodes.stale,
  stale: exitCodes.stale,
  canceled: exitCodes.interrupted,
};

/**
 * Prints the events of a run, and resolves with the exit code that `apply` would have had: 8 if the run waits for an approval. What was asked for
 * while another run was at work begins after it, and is followed too.
 */
export async function waitForRun(
  client: ControllerClient,
  first: string,
  print: (line: string) => void,
): Promise<{ readonly code: number; readonly run: string }> {
  for (let run = first; ; ) {
    for await (const event of client.events(run)) {
      const line = eventLine(event);
      if (line !== undefined) print(`${line}\n`);
      // Events come from the first one on: the approval may have been given since.
      if (event["type"] === "status" && event["to"] === "needs_approval" && (await isWaiting(client, run)))
        break;
    }
    const row = await runOf(client, run);
    const isWaitingNow = row["status"] === "needs_approval";
    if (isWaitingNow || row["status"] === "blocked") tellReasons(row, print);
    const next = isWaitingNow ? undefined : await followerOf(client, row);
    if (next === undefined) return { run, code: codeOf(row) };
    print(`run ${next} follows\n`);
    run = next;
  }
}

/** Says what a person must know about a plan that waits, or that cannot be carried out, and the command that approves it. */
function tellReasons({ id, status, reasons, fingerprint }: JsonObject, print: (line: string) => void): void {
  for (const reason of Array.isArray(reasons) ? reasons : []) print(`  ${lines(String(reason))}\n`);
  const way = `graphform fleet approve ${String(id)} --fingerprint ${escapeText(String(fingerprint))}`;
  if (status === "needs_approval") print(`approve it: ${way}\n`);
}

function codeOf({ status, exitCode }: JsonObject): number {
  if (typeof exitCode === "number" && status !== "needs_approval") return exitCode;
  return ofStatus[String(status)] ?? exitCodes.error;
}

async function isWaiting(client: ControllerClient, run: string): Promise<boolean> {
  const { status } = await runOf(client, run);
  return status === "needs_approval";
}

async function runOf(client: ControllerClient, id: string): Promise<JsonObject> {
  const { run } = await client.ask("GET", `/api/v1/runs/${id}`);
  return isObject(run) ? run : {};
}

/** The run of the same manifest that was begun when this one ended, or later, and may have ended too: what was asked for is done by it. */
async function followerOf(client: ControllerClient, run: JsonObject): Promise<string | undefined> {
  const query = new URLSearchParams({
    tenant: String(run["tenant"]),
    manifest: String(run["manifest"]),
    limit: "20",
  });
  const { runs } = await client.ask("GET", `/api/v1/runs?${query}`);
  const end = Date.parse(String(run["endedAt"]));
  // The newest is the first one.
  const follower = objectsIn(runs).findLast(
    ({ id, kind, endedAt, createdAt }) =>
      id !== run["id"] &&
      kind === "reconcile" &&
      String(createdAt) >= String(run["createdAt"]) &&
      (endedAt === null || Date.parse(String(createdAt)) >= end),
  );
  return textIn(follower?.["id"]);
}

/** One line for an event; undefined for those that say nothing to a person. */
function eventLine(event: JsonObject): string | undefined {
  const { type, to, why, message, event: step } = event;
  const reason = textIn(why) === undefined ? "" : `: ${lines(String(why))}`;
  if (type === "status") return `${String(to)}${reason}`;
  if (type === "note") return lines(String(message));
  if (type !== "apply" || !isObject(step)) return undefined;
  const {
    address,
    operation,
    verb = operation,
    result,
    elapsed,
    detail,
    message: said,
  } = isObject(step["outcome"]) ? step["outcome"] : step;
  const words = [
    address,
    verb,
    result,
    typeof elapsed === "number" ? elapsedTime(elapsed) : undefined,
    detail ?? said,
  ];
  return `  ${escapeText(words.filter((word) => typeof word === "string").join(" "))}`;
}

/** A text of several lines, those after the first one indented. */
function lines(text: string): string {
  return text
    .split("\n")
    .map((line) => escapeText(line))
    .join("\n  ");
}
