/** @module Keeps what happened and could not be stored: in a local file at once, or in the store after all; finds such files later. */
import type { Clock } from "../../model/clock.ts";
import { asError, GraphformError, isGraphformError, shellWord } from "../../model/errors.ts";
import type { StateDocument } from "../../model/state.ts";
import type { StateEvent } from "../../model/state-event.ts";
import type { CreatedObject, ErroredFiles } from "../errored-file.ts";
import { createdWords, matchOf, unpushedIn, unstoredObjects } from "../errored-state.ts";
import { mergeCalls } from "../state-writer.ts";
import type { Unpushed } from "../store.ts";
import type { StateDriver } from "./driver.ts";
import { readableState } from "./read-stored.ts";
import { untilAnswered } from "./store-retry.ts";

export interface Unstored {
  /** Keeps one, and begins to write the file: nothing is lost if the run is killed after that. */
  add(event: StateEvent): void;
  /** Begins to write the file with everything so far, which the store may still take. */
  keepEarly(): void;
  /** Removes the file, unless it has what could not be stored. */
  drop(): Promise<void>;
  /** Ends a run that may store nothing more: tries `last`, then a local file. `lockLeft`: a lock that may stand for ever. Returns the run's error. */
  keep(reason: Error, last: (() => Promise<void>) | undefined, lockLeft?: string): Promise<Error>;
}

export interface RunView {
  readonly where: string;
  readonly view: () => StateDocument | undefined;
  /** The document that is known to be stored. */
  readonly stored: () => StateDocument | undefined;
  /** Digests of what may be stored now. */
  readonly possible: () => readonly (string | undefined)[];
}

export function openUnstored({ where, view, stored, possible }: RunView, files: ErroredFiles): Unstored {
  let events = 0;
  let path: string | undefined;

  const write = async (): Promise<void> => {
    const state = view();
    if (state === undefined) return;
    const follows = possible().map((digest) => digest ?? null);
    path = await files.write({ where, state, follows, created: unstoredObjects(state, stored()) }, path);
  };
  const early = mergeCalls<"now">(async (take) => {
    take();
    await write();
  });
  const keepEarly = (): void => void early.offer("now").catch(() => undefined);
  const drop = async (): Promise<void> => {
    await early.idle();
    if (path === undefined || events > 0) return;
    await files.remove(path).catch(() => undefined);
    path = undefined;
  };
  return {
    add() {
      events += 1;
      keepEarly();
    },
    keepEarly,
    drop,
    async keep(reason, last, lockLeft) {
      await early.idle();
      const state = view();
      if (events === 0 || state === undefined) return drop().then(() => reason);
      const created = unstoredObjects(state, stored());
      const isStored = await last?.().then(
        () => true,
        () => false,
      );
      const trouble = isStored === true ? undefined : await write().then(() => undefined, asError);
      events = 0;
      if (isStored === true) {
        await drop();
        const hint = `what happened is stored as version ${state.serial}; run the command again`;
        return ended(reason, where, hint);
      }
      const isKept = path !== undefined && trouble === undefined;
      const { place = "" } = files;
      const unlock =
        lockLeft === undefined
          ? ""
          : `graphform state unlock ${lockLeft}${place} if that lock is left standing, `;
      const made = created.length === 0 ? "" : ` (${createdWords(created)})`;
      const wayBack = (file: string): string =>
        `what happened last${made} is kept in ${file}; once the store answers again: ${unlock}graphform state push ${shellWord(file)}${place}, then run the command again; until then nothing is changed from this folder`;
      return ended(reason, where, isKept ? wayBack(path ?? "") : byHand(created, trouble));
    },
  };
}

/** Finds the first local file with something that the stored state does not know. `isRemoving`: removes files that are not needed any more. */
export async function findUnpushed(
  driver: StateDriver,
  name: string,
  clock: Clock,
  files: ErroredFiles,
  isRemoving: boolean,
): Promise<Unpushed | undefined> {
  const found = await files.find();
  if (found.length === 0) return undefined;
  const { where } = driver;
  const text = await untilAnswered(() => driver.read(), { clock });
  // The command that reads the state reports its faults, and the place that it was moved to.
  const stored = readableState(text?.text, where, name);
  if (text !== undefined && stored === undefined) return undefined;
  for (const { path, content } of isRemoving ? found : [])
    if (!(content instanceof Error) && matchOf(content, stored, where) === "current")
      await files.remove(path).catch(() => undefined);
  return found.map((file) => unpushedIn(file, stored, where, files.place)).find((file) => file !== undefined);
}

function ended(reason: Error, where: string, hint: string): GraphformError {
  const code = isGraphformError(reason) ? reason.code : "state-unreachable";
  const message = `the state ${where} could not be written to the end of the run, and nothing new was begun after that: ${reason.message}`;
  return new GraphformError(code, message, { hint, cause: reason });
}

/** The ids are stored nowhere else. The next run finds announced creates; with the ids a person can check that. */
function byHand(created: readonly CreatedObject[], trouble: Error | undefined): string {
  const ids = created.length === 0 ? "" : `; note what was created: ${createdWords(created)}`;
  return `it could not be kept in a file either (${trouble?.message ?? "there is no state"})${ids}; run the command again once the store answers, it looks for creates that were announced`;
}
