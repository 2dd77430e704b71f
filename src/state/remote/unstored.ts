/** @module Keeps what happened and could not be stored: in the store after all, or in a local file. */
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileTrouble } from "../../files/file-trouble.ts";
import { asError, GraphformError, isGraphformError } from "../../model/errors.ts";
import { shellWord } from "../../model/shell-word.ts";
import type { StateDocument } from "../../model/state.ts";
import type { StateEvent } from "../../model/state-event.ts";
import { writeErroredState } from "../errored-state.ts";

/** Events of a run that are not stored. */
export interface Unstored {
  add(event: StateEvent): void;
  /**
   * Ends a run that may store nothing more: tries `last` where it is given, then the file beside the manifest, then one in the
   * folder for temporary files. `possible` are the digests of what may be stored now, `lockLeft` is the id of a lock that may
   * be left standing for ever. Returns the error that the run ends with.
   */
  keep(
    reason: Error,
    view: StateDocument | undefined,
    possible: () => readonly (string | undefined)[],
    last: (() => Promise<void>) | undefined,
    lockLeft?: string,
  ): Promise<Error>;
}

/** Opens the list of one store. `file` gets the state. */
export function openUnstored(
  where: string,
  file: string,
  write: typeof writeErroredState = writeErroredState,
): Unstored {
  let events: StateEvent[] = [];
  return {
    add(event) {
      events.push(event);
    },
    async keep(reason, view, possible, last, lockLeft) {
      if (events.length === 0 || view === undefined) return reason;
      const kept = events;
      events = [];
      if (last !== undefined && (await last().then(isTrue, isFalse)))
        return ended(
          reason,
          where,
          `what happened is stored as version ${view.serial}; run the command again`,
        );
      const errored = { state: view, follows: possible().map((digest) => digest ?? null) };
      const troubles: string[] = [];
      for (const path of [file, join(tmpdir(), `${process.pid}.${basename(file)}`)]) {
        try {
          await write(path, errored);
          return ended(reason, where, wayBack(reason, path, lockLeft));
        } catch (error) {
          troubles.push(`${path}: ${fileTrouble(asError(error))}`);
        }
      }
      return ended(reason, where, byHand(kept, troubles));
    },
  };
}

function ended(reason: Error, where: string, hint: string): GraphformError {
  const code = isGraphformError(reason) ? reason.code : "state-unreachable";
  return new GraphformError(
    code,
    `the state ${where} could not be written to the end of the run, and nothing new was begun after that: ${reason.message}`,
    { hint, cause: reason },
  );
}

function wayBack(reason: Error, file: string, lockLeft: string | undefined): string {
  const push = `graphform state push ${shellWord(file)}`;
  const unlock =
    lockLeft === undefined ? "" : `graphform state unlock ${lockLeft} if that lock is left standing, `;
  const isOthers = isGraphformError(reason) && ["lock-lost", "state-conflict"].includes(reason.code);
  return isOthers
    ? `what happened last is kept in ${file}; if nobody has written since: ${push}; otherwise run the command again, it looks for creates that were announced`
    : `what happened last is kept in ${file}; once the store answers again: ${unlock}${push}, then run the command again`;
}

/** The ids that stand nowhere else: announced creates are found by the next run, and these tell a person what it should find. */
function byHand(events: readonly StateEvent[], troubles: readonly string[]): string {
  const made = events.flatMap((event) => {
    if (event.type === "create-acknowledged") return [`${event.address} is ${event.id}`];
    return event.type === "creates-resolved"
      ? event.found.map(({ address, id }) => `${address} is ${id}`)
      : [];
  });
  const ids = made.length === 0 ? "" : `; note what was created: ${made.join(", ")}`;
  return `it could not be kept in a file either (${troubles.join("; ")})${ids}; run the command again once the store answers, it looks for creates that were announced`;
}

const isTrue = (): boolean => true;
const isFalse = (): boolean => false;
