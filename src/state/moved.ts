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
  /** The address to which the state was moved. */
  readonly movedTo?: string;
  /** The address from which the state is being moved. */
  readonly movingFrom?: string;
  /** The whole state, while it is being moved here. */
  readonly document?: StateDocument;
}

/** The text that stays where a state was: nothing of it but its name, its lineage and the way. */
export function tombstoneText(
  { name, lineage }: Pick<StateDocument, "name" | "lineage">,
  movedTo: string,
  { serial, savedAt }: Pick<StateDocument, "serial" | "savedAt">,
): string {
  const moved: MovedDocument = { version, name, lineage, serial, savedAt, movedTo };
  return movedText(moved);
}

/** The text of such a document. */
export function movedText(moved: MovedDocument): string {
  return `${JSON.stringify(moved, undefined, moved.document === undefined ? 2 : 0)}\n`;
}

/** The text that holds a state where it is being moved to: it may not be used before the old place says that it was moved. */
export function incomingText(document: StateDocument, movingFrom: string): string {
  const { name, lineage, serial, savedAt } = document;
  const incoming: MovedDocument = { version, name, lineage, serial, savedAt, movingFrom, document };
  return movedText(incoming);
}

/** The document in place of a state; undefined for any other text. */
export function movedDocument(text: string): MovedDocument | undefined {
  try {
    return asMoved(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A parsed document as one in place of a state; undefined for any other. */
export function asMoved(value: unknown): MovedDocument | undefined {
  return isMoved(value) ? value : undefined;
}

function isMoved(value: unknown): value is MovedDocument {
  if (!isObject(value) || value["version"] !== version) return false;
  const { name, lineage, serial } = value;
  const ways = [value["movedTo"], value["movingFrom"]].filter((way) => typeof way === "string");
  return (
    typeof name === "string" && typeof lineage === "string" && typeof serial === "number" && ways.length === 1
  );
}

/** The refusal to work with such a document. `where` is its place, for people. */
export function refusalOf({ movedTo, movingFrom }: MovedDocument, where: string): GraphformError {
  if (movedTo !== undefined)
    return new GraphformError("state-moved", `the state ${where} was moved to ${movedTo}`, {
      hint: `name that in the manifest's state section, or with --state '${movedTo}'`,
    });
  return new GraphformError(
    "state-moving",
    `the state is being moved from ${movingFrom} to ${where}, and that was not finished`,
    { hint: `finish it: graphform state migrate --state '${movingFrom}' --to '${where}'` },
  );
}
