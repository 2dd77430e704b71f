/** @module Reads and writes the log beside a state, the events since its document was written, and folds it into the document. */
import { crc32 } from "node:zlib";
import { GraphformError } from "../model/errors.ts";
import { isObject, objectIn, own } from "../model/json.ts";
import type { StateDocument } from "../model/state.ts";
import type { StateEvent } from "../model/state-event.ts";
import type { Conforms } from "../model/violation.ts";
import type { VersionId } from "./document.ts";
import { liveDocument } from "./live-document.ts";
import { appendTo } from "./reducer.ts";
import type { EventVersion } from "./store.ts";
import { validators } from "./validators.generated.js";

export type LogHead = Pick<StateDocument, "lineage" | "serial" | "savedAt">;

/**
 * A log. Its file has one JSON object a line, each with a checksum: first the version that the log follows, then one line
 * for all events of a moment, so that each moment is there whole or not at all.
 */
export interface StateLog {
  readonly head: LogHead;
  /** In their order, without a gap. */
  readonly events: readonly EventVersion[];
}

export function headLine({ lineage, serial, savedAt }: LogHead): string {
  return lineOf({ follows: { lineage, serial, savedAt } });
}

export function eventsLine(events: readonly EventVersion[]): string {
  return lineOf({ events: events.map(({ serial, savedAt, event }) => ({ serial, savedAt, event })) });
}

function lineOf(content: { readonly [key: string]: unknown }): string {
  const body = JSON.stringify(content).slice(1);
  return `{"sum":"${sumOf(body)}",${body}\n`;
}

/** Adds the events of its log to a document. Throws `state-log-gone`, `state-log-stray` or `state-log-damaged`. `file`: for messages. */
export function foldLog(state: StateDocument, log: string | undefined, file: string): StateDocument {
  if (log === undefined) throw logGone(file, state);
  const { head, events } = readLog(log, file);
  const isOurs =
    head.lineage === state.lineage && head.serial === state.serial && head.savedAt === state.savedAt;
  if (!isOurs) throw logStray(file, state, head);
  const live = liveDocument(state);
  // A journal records nothing that changes nothing.
  for (const event of events) if (!appendTo(live, event)) throw logDamaged(file);
  return live.view;
}

/**
 * Reads a log up to a last line that is cut: the process died while it wrote it, and has not reported it as durable. Throws
 * `state-log-damaged` if anything else is not as it was written: what follows may hold acknowledged ids.
 */
export function readLog(text: string, file: string): StateLog {
  const lines = text.split("\n");
  const rest = lines.pop() ?? "";
  const whole = rest === "" ? lines : [...lines, rest];
  const head = headOf(contentOf(whole[0] ?? ""));
  if (head === undefined) throw logDamaged(file, 1);
  const events: EventVersion[] = [];
  for (const [at, line] of whole.entries()) {
    if (at === 0) continue;
    const content = contentOf(line);
    if (content === undefined && at === whole.length - 1 && isCut(line, rest)) break;
    const found = eventsIn(content, head.lineage);
    if (content !== undefined && found === undefined)
      throw writtenByNewer(`the log ${file}.log`, `line ${at + 1}, which is whole`);
    const isNext = found?.every(({ serial }, nth) => serial === head.serial + events.length + nth + 1);
    if (found === undefined || isNext !== true) throw logDamaged(file, at + 1);
    events.push(...found);
  }
  return { head, events };
}

/** The version that a log follows, and the serial of its last whole line; undefined if its first line is damaged. */
export function spanOf(text: string): { readonly head: LogHead; readonly last?: number } | undefined {
  const end = text.indexOf("\n");
  const head = end < 0 ? undefined : headOf(contentOf(text.slice(0, end)));
  if (head === undefined) return undefined;
  for (let to = text.lastIndexOf("\n"); to > end; ) {
    const from = text.lastIndexOf("\n", to - 1);
    const last = eventsIn(contentOf(text.slice(from + 1, to)), head.lineage)?.at(-1);
    if (last !== undefined) return { head, last: last.serial };
    to = from;
  }
  return { head };
}

/** True for a line whose end was never written or is zeros after a power failure; after a whole one another may have followed. */
function isCut(line: string, rest: string): boolean {
  const zero = line.indexOf("\0");
  if (zero < 0) return line === rest;
  return contentOf(line.slice(0, zero)) === undefined;
}

/** The content of a line; undefined if it is not as it was written. */
function contentOf(line: string): { readonly [key: string]: unknown } | undefined {
  const [, sum, body] = /^\{"sum":"([0-9a-f]{8})",(.*)$/.exec(line) ?? [];
  if (sum === undefined || body === undefined || sumOf(body) !== sum) return undefined;
  return objectIn(`{${body}`);
}

function headOf(content: { readonly [key: string]: unknown } | undefined): LogHead | undefined {
  const head = content?.["follows"];
  if (!isObject(head)) return undefined;
  const { lineage, serial, savedAt } = head;
  if (typeof lineage !== "string" || typeof serial !== "number" || typeof savedAt !== "string")
    return undefined;
  return { lineage, serial, savedAt };
}

function eventsIn(
  content: { readonly [key: string]: unknown } | undefined,
  lineage: string,
): readonly EventVersion[] | undefined {
  const entries = content?.["events"];
  if (!Array.isArray(entries)) return undefined;
  const events = entries.map((entry: unknown) => eventIn(entry, lineage));
  return events.every((event) => event !== undefined) ? events : undefined;
}

function eventIn(entry: unknown, lineage: string): EventVersion | undefined {
  if (!isObject(entry)) return undefined;
  const { serial, savedAt, event } = entry;
  if (typeof serial !== "number" || typeof savedAt !== "string" || !isStateEvent(event)) return undefined;
  return { lineage, serial, savedAt, event };
}

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}

function isStateEvent(value: unknown): value is StateEvent {
  const type = isObject(value) ? value["type"] : undefined;
  return typeof type === "string" && own<Conforms<StateEvent>>(validators.events, type)?.(value) === true;
}

/** The refusal of what is whole and not known here: nothing of it may be taken away. */
export function writtenByNewer(what: string, why: string): GraphformError {
  return new GraphformError("state-newer", `${what} has what this graphform does not know: ${why}`, {
    hint: "it was left as it is: use the graphform that wrote it, or a newer one",
  });
}

/** The log is missing: acknowledged events may be lost. */
function logGone(file: string, { serial }: VersionId): GraphformError {
  const message = `the state ${file} is not whole: what happened since version ${serial} is in ${file}.log, and that is gone`;
  return new GraphformError("state-log-gone", message, {
    hint: `put the log back, or a newer copy of the state; ${without(file)}`,
  });
}

/** The log is that of another version, or of another state. */
function logStray(file: string, state: VersionId, head: VersionId): GraphformError {
  const followed =
    head.lineage === state.lineage ? `version ${head.serial} of it` : "a version of another history";
  const message = `the log ${file}.log does not belong to the state ${file}: it follows ${followed}, and the state is at version ${state.serial}`;
  return new GraphformError("state-log-stray", message, {
    hint: `put both back from one copy; ${without(file)}`,
  });
}

/** The log is not as it was written; without a line, it does not fit its document. */
function logDamaged(file: string, line?: number): GraphformError {
  const at = line === undefined ? ": it does not fit the state" : ` in line ${line}`;
  const message = `the log ${file}.log of the state is damaged${at}`;
  const before = "put a whole copy of it in its place; to go on with what comes before";
  return new GraphformError("state-log-damaged", message, {
    hint:
      line === undefined || line === 1
        ? `put a whole copy of it in its place; ${without(file)}`
        : `${before}, remove that line and all after it, and bind what is missing with graphform import`,
  });
}

function without(file: string): string {
  return `to go on without what it holds, write "version": 2 in place of 3 in ${file}, and bind what is missing with graphform import`;
}
