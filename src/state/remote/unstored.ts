/** @module Keeps what happened and could not be stored: in a local file at once, or in the store after all. */
import { asError, GraphformError, isGraphformError } from "../../model/errors.ts";
import { shellWord } from "../../model/shell-word.ts";
import type { StateDocument } from "../../model/state.ts";
import type { StateEvent } from "../../model/state-event.ts";
import type { ErroredFiles } from "../errored-files.ts";
import type { CreatedObject } from "../errored-state.ts";
import { createdWords } from "./unpushed.ts";

/** Events of a run that are not stored. */
export interface Unstored {
  /** Keeps one, and begins to write the file: whoever kills the run after that loses nothing. */
  add(event: StateEvent): void;
  /**
   * Ends a run that may store nothing more: tries `last` where it is given, then a local file. `lockLeft` is the id of a lock
   * that may be left standing for ever. Returns the error that the run ends with.
   */
  keep(reason: Error, last: (() => Promise<void>) | undefined, lockLeft?: string): Promise<Error>;
}

/** The state of the run. */
export interface RunView {
  readonly where: string;
  readonly view: () => StateDocument | undefined;
  /** Digests of what may be stored now. */
  readonly possible: () => readonly (string | undefined)[];
}

/** Opens the list of one store. */
export function openUnstored({ where, view, possible }: RunView, files: ErroredFiles): Unstored {
  let events: StateEvent[] = [];
  /** Number of events that are in the file. */
  let written = 0;
  let path: string | undefined;
  let writing: Promise<void> | undefined;

  const write = async (): Promise<void> => {
    const state = view();
    if (state === undefined) return;
    const count = events.length;
    const follows = possible().map((digest) => digest ?? null);
    path = await files.write({ where, state, follows, created: createdBy(events) }, path);
    written = count;
  };
  const writeEarly = async (): Promise<void> => {
    while (written < events.length) await write();
  };
  return {
    add(event) {
      events.push(event);
      writing ??= writeEarly()
        .catch(() => undefined)
        .finally(() => {
          writing = undefined;
        });
    },
    async keep(reason, last, lockLeft) {
      await writing;
      const state = view();
      if (events.length === 0 || state === undefined) return reason;
      const created = createdBy(events);
      if (last !== undefined && (await last().then(isTrue, isFalse))) {
        events = [];
        if (path !== undefined) await files.remove(path).catch(() => undefined);
        return ended(
          reason,
          where,
          `what happened is stored as version ${state.serial}; run the command again`,
        );
      }
      const trouble = await write().then(() => undefined, asError);
      events = [];
      const hint =
        path === undefined || trouble !== undefined
          ? byHand(created, trouble)
          : wayBack(reason, path, created, lockLeft);
      return ended(reason, where, hint);
    },
  };
}

function createdBy(events: readonly StateEvent[]): readonly CreatedObject[] {
  return events.flatMap((event) => {
    if (event.type === "create-acknowledged") return [{ address: event.address, id: event.id }];
    return event.type === "creates-resolved" ? event.found.map(({ address, id }) => ({ address, id })) : [];
  });
}

function ended(reason: Error, where: string, hint: string): GraphformError {
  const code = isGraphformError(reason) ? reason.code : "state-unreachable";
  return new GraphformError(
    code,
    `the state ${where} could not be written to the end of the run, and nothing new was begun after that: ${reason.message}`,
    { hint, cause: reason },
  );
}

function wayBack(
  reason: Error,
  file: string,
  created: readonly CreatedObject[],
  lockLeft: string | undefined,
): string {
  const unlock =
    lockLeft === undefined ? "" : `graphform state unlock ${lockLeft} if that lock is left standing, `;
  const isOthers = isGraphformError(reason) && ["lock-lost", "state-conflict"].includes(reason.code);
  const when = isOthers
    ? "before the next run (where somebody else has written since, this says what that run does not know)"
    : "once the store answers again";
  const made = created.length === 0 ? "" : ` (${createdWords(created)})`;
  return `what happened last${made} is kept in ${file}; ${when}: ${isOthers ? "" : unlock}graphform state push ${shellWord(file)}, then run the command again; until then nothing is changed from this folder`;
}

/** The ids that stand nowhere else: announced creates are found by the next run, and these tell a person what it should find. */
function byHand(created: readonly CreatedObject[], trouble: Error | undefined): string {
  const ids = created.length === 0 ? "" : `; note what was created: ${createdWords(created)}`;
  return `it could not be kept in a file either (${trouble?.message ?? "there is no state"})${ids}; run the command again once the store answers, it looks for creates that were announced`;
}

const isTrue = (): boolean => true;
const isFalse = (): boolean => false;
