/** @module Tells a copy of ours from data that others may have written: only a copy is emptied. */
import { isDeepStrictEqual } from "node:util";
import type { Command } from "../../database/command-socket.ts";
import type { Migration } from "../../model/state.ts";
import { librariesOf } from "./inventory.ts";
import { databasesOf } from "./keys.ts";
import type { Side } from "./nodes.ts";
import { factsOf } from "./proof.ts";
import { Refused } from "./refusals.ts";

/** A key that the new database has while it is copied to. Nothing is switched before it is deleted, so that a run with an older state takes no database in use for a copy. */
export const copyKey = "graphform:copy:0d6b2f4c-8a51-4f0e-9b7d-3c1e5a92f6d8";
/** The text "x" as DUMP shows it, in a version that every engine can restore. */
const text = Buffer.from("0001780900f272d793e96e2b61", "hex");
export const setCopyKey: Command = ["RESTORE", copyKey, "0", text, "REPLACE"];
export const deleteCopyKey: Command = ["DEL", copyKey];

/** True if the new database has nothing that others may have written: it has nothing at all, or is marked as a copy, or is as the state remembers that a run left it. */
export async function isOwnCopy(side: Side, mark?: Migration["mark"]): Promise<boolean> {
  const { control } = side.primary;
  if ((await control.one(["TYPE", copyKey])) !== "none") return true;
  if ((await databasesOf(control)).length === 0 && (await librariesOf(control)).length === 0) return true;
  const now = await writeCountOf(side);
  return now !== undefined && isDeepStrictEqual(now, mark);
}

/** The process of a database, the number of write commands that it has executed until now, and its libraries. Undefined if its counters were set back. */
export async function writeCountOf({ primary }: Side): Promise<Migration["mark"]> {
  const { runId, writes, libraries, wereReset } = await factsOf(primary);
  return wereReset ? undefined : { runId, writes, libraries };
}

/** The reason not to empty or to delete a new database, and not to start the old one. */
export function notOwnCopy(next: string, old: string): Refused {
  const message = `the new database ${next} is not proved to have only what was copied there: a run that this state does not know of may have switched to it, and it takes writes instead of ${old} then`;
  return new Refused("not-a-copy", message);
}
