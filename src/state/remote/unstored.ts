/** @module Keeps what happened and could not be stored: in a local file at once, or in the store after all. */
import { asError, GraphformError, isGraphformError, shellWord } from "../../model/errors.ts";
import type { StateDocument } from "../../model/state.ts";
import type { StateEvent } from "../../model/state-event.ts";
import type { ErroredFiles } from "../errored-files.ts";
import { type CreatedObject, unknownObjects } from "../errored-state.ts";
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
  /** The document that is known to be stored. */
  readonly stored: () => StateDocument | undefined;
  /** Digests of what may be stored now. */
  readonly possible: () => readonly (string | undefined)[];
}

/** Opens the list of one store. */
export function openUnstored(run: RunView, files: ErroredFiles): Unstored {
  const { where, view, stored, possible } = run;
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
    path = await files.write({ where, state, follows, created: unstoredObjects(state, stored()) }, path);
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
      const created = unstoredObjects(state, stored());
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
          : wayBack(path, created, lockLeft);
      return ended(reason, where, hint);
    },
  };
}

/** Objects that the run has bound and the stored document has not. */
function unstoredObjects(
  { resources }: StateDocument,
  stored: StateDocument | undefined,
): readonly CreatedObject[] {
  const created = Object.entries(resources).map(([address, { id }]) => ({ address, id }));
  return unknownObjects({ created }, stored);
}

function ended(reason: Error, where: string, hint: string): GraphformError {
  const code = isGraphformError(reason) ? reason.code : "state-unreachable";
  return new GraphformError(
    code,
    `the state ${where} could not be written to the end of the run, and nothing new was begun after that: ${reason.message}`,
    { hint, cause: reason },
  );
}

function wayBack(file: string, created: readonly CreatedObject[], lockLeft: string | undefined): string {
  const unlock =
    lockLeft === undefined ? "" : `graphform state unlock ${lockLeft} if that lock is left standing, `;
  const made = created.length === 0 ? "" : ` (${createdWords(created)})`;
  return `what happened last${made} is kept in ${file}; once the store answers again: ${unlock}graphform state push ${shellWord(file)}, then run the command again; until then nothing is changed from this folder`;
}

/** The ids that stand nowhere else: announced creates are found by the next run, and these tell a person what it should find. */
function byHand(created: readonly CreatedObject[], trouble: Error | undefined): string {
  const ids = created.length === 0 ? "" : `; note what was created: ${createdWords(created)}`;
  return `it could not be kept in a file either (${trouble?.message ?? "there is no state"})${ids}; run the command again once the store answers, it looks for creates that were announced`;
}

const isTrue = (): boolean => true;
const isFalse = (): boolean => false;
