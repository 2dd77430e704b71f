/** @module Writes and reads the document that stands in place of a state that was moved to another store, or is being moved. */
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { GraphformError, shellWord } from "../model/errors.ts";
import { defined, isObject, objectIn } from "../model/json.ts";
import type { StateDocument } from "../model/state.ts";

/** Older programs refuse this version as newer than themselves, and begin no second state in its place. */
const version = 4;

/** A move, with the addresses of both its ends: they lead there from anywhere, and have no credentials. */
export interface Way {
  /** Distinguishes this move from every other one: the copy and the tombstone of one move have the same. */
  readonly move: string;
  readonly from: string;
  readonly to: string;
}

/** A document in place of a state. */
export interface MovedDocument extends Way, Pick<StateDocument, "name" | "lineage" | "serial" | "savedAt"> {
  /** The whole state, in the copy at the new place; the tombstone at the old one has none. */
  readonly document?: StateDocument;
}

export function movedText(moved: MovedDocument): string {
  const { move, from, to, name, lineage, serial, savedAt, document } = moved;
  const written = { version, move, name, lineage, serial, savedAt, from, to, ...defined({ document }) };
  return `${JSON.stringify(written, undefined, document === undefined ? 2 : 0)}\n`;
}

/** The document in place of a state; undefined for any other text. */
export function movedDocument(text: string): MovedDocument | undefined {
  const value: unknown = objectIn(text);
  return isMoved(value) ? value : undefined;
}

/** True for a parsed document in place of a state. */
export function isMoved(value: unknown): value is MovedDocument {
  if (!isObject(value) || value["version"] !== version || typeof value["serial"] !== "number") return false;
  return ["move", "name", "lineage", "from", "to"].every((key) => typeof value[key] === "string");
}

/** The state in a copy, if the document at the old place is the tombstone of the same move: that one write decides. */
export function stateMovedHere(copy: MovedDocument, source: MovedDocument): StateDocument | undefined {
  const isOurs =
    source.document === undefined && source.move === copy.move && source.lineage === copy.lineage;
  if (!isOurs || copy.document === undefined) return undefined;
  // A takeover of the lock has written the head of the copy once more.
  return { ...copy.document, serial: Math.max(copy.document.serial, copy.serial) };
}

/** The refusal to work with such a document, with the command that finishes its move. `where` is its place, for people. */
export function refusalOf({ from, to, document }: MovedDocument, where: string): GraphformError {
  const finish = `graphform state migrate --state ${shellWord(from)} --to ${shellWord(to)}`;
  if (document !== undefined) {
    const message = `the state is being moved from ${from} to ${where}, and that was not finished`;
    return new GraphformError("state-moving", message, { hint: `finish it: ${finish}` });
  }
  const isOnOtherMachine = isAbsolute(to) && !existsSync(to);
  return new GraphformError("state-moved", `the state ${where} was moved to ${to}`, {
    hint: isOnOtherMachine
      ? "no such file is on this machine: run graphform where it is, or move the state from there to a place that both reach"
      : `name that in the manifest's state section, or with --state ${shellWord(to)}; if that is refused as not finished: ${finish}`,
  });
}
