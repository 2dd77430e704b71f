/** @module Writes and reads what stands in place of a state that was moved to another store, or is being moved. */
import { GraphformError } from "../model/errors.ts";
import { isObject } from "../model/json.ts";
import type { StateDocument } from "../model/state.ts";

/**
 * The version that such a document has: a graphform that knows nothing of moves refuses it as newer than itself, and does
 * not begin a second state in its place.
 */
const version = 4;

/** The head of a document that is no state itself. */
export interface MovedDocument extends Pick<StateDocument, "name" | "lineage" | "serial" | "savedAt"> {
  readonly version: typeof version;
  /** Tells this move from every other one: the copy and the tombstone of one move have the same. */
  readonly move: string;
  /** The address to which the state was moved. */
  readonly movedTo?: string;
  /** The address of the place that it was moved from, where this stands. */
  readonly movedFrom?: string;
  /** The address from which the state is being moved. */
  readonly movingFrom?: string;
  /** The address of the place that it is being moved to, where this stands. */
  readonly movingTo?: string;
  /** The whole state, while it is being moved here. */
  readonly document?: StateDocument;
}

/** A move, with the addresses of both its ends: they lead there from anywhere, and have no credentials. */
export interface Way {
  readonly move: string;
  readonly from: string;
  readonly to: string;
}

/** The text that stays where a state was: nothing of it but its name, its lineage and the way. */
export function tombstoneText(
  { name, lineage }: Pick<StateDocument, "name" | "lineage">,
  { move, from, to }: Way,
  { serial, savedAt }: Pick<StateDocument, "serial" | "savedAt">,
): string {
  const moved: MovedDocument = {
    version,
    move,
    name,
    lineage,
    serial,
    savedAt,
    movedTo: to,
    movedFrom: from,
  };
  return movedText(moved);
}

/** The text of such a document. */
export function movedText(moved: MovedDocument): string {
  return `${JSON.stringify(moved, undefined, moved.document === undefined ? 2 : 0)}\n`;
}

/** The text that holds a state where it is being moved to: it may not be used before the old place says that it was moved. */
export function incomingText(document: StateDocument, { move, from, to }: Way): string {
  const { name, lineage, serial, savedAt } = document;
  const head = { version, move, name, lineage, serial, savedAt } as const;
  return movedText({ ...head, movingFrom: from, movingTo: to, document });
}

/** The document in place of a state; undefined for any other text. */
export function movedDocument(text: string): MovedDocument | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMoved(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** True for a parsed document in place of a state. */
export function isMoved(value: unknown): value is MovedDocument {
  if (!isObject(value) || value["version"] !== version) return false;
  const { move, name, lineage, serial } = value;
  const ways = [value["movedTo"], value["movingFrom"]].filter((way) => typeof way === "string");
  const areTexts = [move, name, lineage].every((text) => typeof text === "string");
  return areTexts && typeof serial === "number" && ways.length === 1;
}

/**
 * The state in a copy that is being moved here, where the document of the old place is the tombstone of the same move: that one
 * write decides. Undefined for every other document there, and where nothing is.
 */
export function stateMovedHere(
  copy: MovedDocument,
  source: MovedDocument | undefined,
): StateDocument | undefined {
  const isOurs =
    source?.movedTo !== undefined && source.move === copy.move && source.lineage === copy.lineage;
  if (!isOurs || copy.document === undefined) return undefined;
  // A takeover of the lock has written the head of the copy once more.
  return { ...copy.document, serial: Math.max(copy.document.serial, copy.serial) };
}

/** The refusal to work with such a document, with the command that finishes its move. `where` is its place, for people. */
export function refusalOf(
  { movedTo, movedFrom, movingFrom = "", movingTo }: MovedDocument,
  where: string,
): GraphformError {
  if (movedTo !== undefined) {
    const named = `name that in the manifest's state section, or with --state ${quoted(movedTo)}`;
    const finish = finishing(movedFrom ?? where, movedTo);
    return new GraphformError("state-moved", `the state ${where} was moved to ${movedTo}`, {
      hint: `${named}; where that is refused as not finished: ${finish}`,
    });
  }
  return new GraphformError(
    "state-moving",
    `the state is being moved from ${movingFrom} to ${where}, and that was not finished`,
    { hint: `finish it: ${finishing(movingFrom, movingTo ?? where)}` },
  );
}

/** The command that goes on with a move, as a shell takes it. */
function finishing(from: string, to: string): string {
  return `graphform state migrate --state ${quoted(from)} --to ${quoted(to)}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
