/** @module Writes the two files of a state: the document as a whole, the log line by line. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { writeAtomically } from "../files/atomic-write.ts";
import { isStill } from "../files/lock-file.ts";
import type { StateDocument } from "../model/state.ts";
import { stateFormatter } from "./document.ts";
import { eventsLine, headLine } from "./state-log.ts";
import type { EventVersion } from "./store.ts";

/** Size in bytes up to which a log is not folded in, however small the document is. */
const shortLog = 256 * 1024;

/**
 * Writes a state: `<file>`, `<file>.backup` (the version before, or what the log follows), `<file>.log`.
 *
 * Version 2: the document is whole, and a log beside it is ignored. Version 3: it is read with its log. The first event after a document of
 * version 2 begins the log, and only then document and backup are written once more, with version 3. So there is no
 * moment at which the two files contradict each other, and none at which a log has to be removed. All functions reject with the file system's error.
 */
export function stateWriter() {
  const format = stateFormatter();
  /** The document as version 3, and the head of the log that follows it. */
  let base: { readonly head: string; readonly text: string } | undefined;
  let size: number | undefined;

  const forget = (): void => {
    base = undefined;
    size = undefined;
  };

  return {
    /** True if events can be added: the document was written here, and its log is not too long. */
    canAppend: (): boolean => base !== undefined && (size ?? 0) <= Math.max(shortLog, 2 * base.text.length),
    /** True if the document that stands there is not whole without its log. */
    hasLog: (): boolean => size !== undefined,
    forget: (): void => forget(),
    /** Replaces the stored document. Formats the new one before the first wait. */
    async writeDocument(file: string, state: StateDocument): Promise<void> {
      const next = { head: headLine(state), text: format({ ...state, version: 3 }) };
      const text = format(state);
      forget();
      await writeAtomically(file, text, backupOf(file));
      base = next;
    },
    /** Makes events of one moment durable, at a cost that does not grow with the document. False if another process has written. */
    async append(file: string, events: readonly EventVersion[]): Promise<boolean> {
      const line = eventsLine(events);
      const [follows, before] = [base, size];
      // If this fails, it is not known how far it came: the next write is a whole document.
      forget();
      if (follows === undefined) throw new Error("a log was to be begun without a document");
      if (before === undefined) {
        await writeAtomically(logOf(file), follows.head + line);
        await writeAtomically(backupOf(file), follows.text);
        await writeAtomically(file, follows.text);
      } else if (!(await appendDurably(logOf(file), line, before))) return false;
      base = follows;
      size = (before ?? Buffer.byteLength(follows.head)) + Buffer.byteLength(line);
      return true;
    },
  };
}

export function logOf(file: string): string {
  return `${file}.log`;
}

export function backupOf(file: string): string {
  return `${file}.backup`;
}

/** Adds a text durably to a file of that size in bytes. False if it has another size, or was replaced: another process has written. */
async function appendDurably(file: string, text: string, size: number): Promise<boolean> {
  // Never made here: a file that is gone is noticed.
  const handle = await open(file, constants.O_WRONLY | constants.O_APPEND);
  try {
    if ((await handle.stat()).size !== size) return false;
    await handle.writeFile(text, "utf8");
    await handle.datasync();
    return await isStill(file, handle);
  } finally {
    await handle.close();
  }
}

interface Merged<T> {
  /** Hands an item in; resolves or rejects with the call that took it. */
  offer(item: T): Promise<void>;
  idle(): Promise<void>;
}

/** Runs `work` one call at a time. Items offered before a call takes its own go into it together, in order; later ones into the next. */
export function mergeCalls<T>(work: (take: () => readonly T[]) => Promise<void>): Merged<T> {
  let running: Promise<void> = Promise.resolve();
  let waiting: { readonly items: T[]; readonly done: Promise<void> } | undefined;
  return {
    offer(item): Promise<void> {
      if (waiting !== undefined) {
        waiting.items.push(item);
        return waiting.done;
      }
      const items = [item];
      const take = (): readonly T[] => {
        if (waiting?.items === items) waiting = undefined;
        return items;
      };
      const done = running.then(() => work(take)).finally(take);
      waiting = { items, done };
      running = done.catch(() => undefined);
      return done;
    },
    idle: () => running,
  };
}
