/** @module Stores a state in a file, with a log of later events and a lock beside it. */
import { dirname } from "node:path";
import { defined } from "../model/json.ts";
import type { Hide } from "../model/known-secrets.ts";
import type { StateDocument } from "../model/state.ts";
import { follows, type VersionId, versionIdOf } from "./document.ts";
import { fileHistory, probeFolder, readFileText, readFileVersion, replaceFileText } from "./file-text.ts";
import { type LiveDocument, liveDocument } from "./live-document.ts";
import { acquireLock, breakLock, readHolder } from "./lock.ts";
import { appendTo } from "./reducer.ts";
import { type FileStamps, readStored, type StoredState, stampOf, stampsOf, targetOf } from "./state-file.ts";
import { backupOf, logOf, mergeCalls, stateWriter } from "./state-writer.ts";
import type { DurableStore, EventVersion, Lock, Stored } from "./store.ts";
import { conflict, standsElsewhere, stateGone, stateOlder, unwritable } from "./store-trouble.ts";

export interface FileStoreOptions {
  readonly path: string;
  /** The manifest's name: a state of another name is refused. Without it any state will do. */
  readonly name?: string;
  /** The path for commands in other folders, or for the target of a link: a state there, and none at `path`, is refused and not begun again. */
  readonly elsewhere?: readonly string[];
  /** Hides the secrets of the run in what another holder of the lock wrote. */
  readonly hide?: Hide;
}

/** The stored version as this store knows it; undefined if nothing is stored. */
interface StoredHere {
  readonly version: VersionId | undefined;
  readonly stamps: FileStamps;
}

/** Something to write; `fold`: the log goes into the document. */
type Item =
  | { readonly is: "whole"; readonly version: StateDocument }
  | { readonly is: "event"; readonly version: EventVersion }
  | { readonly is: "fold" };

/**
 * A state in a file, or at the target of a link: a document and a log of later events (`stateWriter`), mode 0600, the lock beside them
 * as `<path>.lock`. The document is whole when the lock is given back.
 *
 * A write follows what this store read or wrote last. Another writer's version in between refuses it and every further one until the
 * state is read again; a file that vanished meanwhile is written again. `read` throws `state-gone` if the document is missing and its
 * backup or log is there (everything would be made a second time), and `state-older` if these know a newer version.
 */
export function createFileStore({ path, name, elsewhere, hide }: FileStoreOptions): DurableStore {
  const writer = stateWriter();
  /** Undefined before it has looked. */
  let known: StoredHere | undefined;
  /** Everything that was handed in, durable or not. */
  let live: LiveDocument | undefined;
  let busy = 0;
  /** A version that could not be written although it followed: the one after it follows as well. */
  let unwritten: number | undefined;
  let refused = false;

  const load = async (file: string): Promise<StoredState> => {
    const stored = await readStored(file, path, name);
    known = knownFrom(stored);
    writer.forget();
    return stored;
  };

  const isUntouched = async (file: string): Promise<boolean> => {
    const expected = known;
    const stamps = await stampsOf(file);
    const document = compare(expected?.stamps.document, stamps.document);
    const log = compare(expected?.stamps.log, stamps.log);
    if (document === "gone" || log === "gone") writer.forget();
    if (document !== "other" && log !== "other") return true;
    const { state } = await load(file);
    return expected === undefined || isSame(expected.version, state);
  };

  const isAfter = (serial: number | undefined, { serial: next, lineage }: VersionId): boolean =>
    next - 1 === serial && (known?.version?.lineage ?? lineage) === lineage;

  const store = async (take: () => readonly Item[]): Promise<void> => {
    const file = await targetOf(path);
    const isOurs = await isUntouched(file);
    const items = take();
    const [first] = items.flatMap((item) => (item.is === "fold" ? [] : [item.version]));
    if (live === undefined || (first === undefined && !writer.hasLog())) return;
    const version = versionIdOf(live.view);
    const lastUnwritten = unwritten;
    if (first !== undefined) unwritten = version.serial;
    const isNext = first === undefined || follows(known?.version, first) || isAfter(lastUnwritten, first);
    if (refused || !isOurs || !isNext || !(await put(file, items, live.view))) {
      refused = true;
      throw conflict(path, first ?? version, known?.version);
    }
    unwritten = undefined;
    known = { version, stamps: await stampsOf(file) };
  };

  /** Writes before it waits for anything. False if another process has written at the same time. */
  const put = async (file: string, items: readonly Item[], state: StateDocument): Promise<boolean> => {
    const events = items.flatMap((item) => (item.is === "event" ? [item.version] : []));
    const versions = [known?.version, versionIdOf(state)];
    try {
      if (events.length === items.length && writer.canAppend()) return await writer.append(file, events);
      await writer.writeDocument(file, state);
      return true;
    } catch (error) {
      // The write may have reached the disk nevertheless: the version that is found there is ours.
      const found = await readStored(file, path, name).catch(() => undefined);
      if (found !== undefined && versions.some((version) => isSame(version, found.state)))
        known = knownFrom(found);
      throw unwritable(path, error);
    }
  };
  const writes = mergeCalls(store);

  const offer = async (item: Exclude<Item, { is: "fold" }>): Promise<void> => {
    if (busy > 0 && live !== undefined && !follows(live.view, item.version))
      throw conflict(path, item.version, live.view);
    if (item.is === "whole") live = liveDocument(item.version);
    else if (live === undefined || !appendTo(live, item.version))
      throw conflict(path, item.version, known?.version);
    busy += 1;
    await writes.offer(item).finally(() => {
      busy -= 1;
    });
  };

  return {
    where: path,
    async read(): Promise<StateDocument | undefined> {
      await writes.idle();
      const file = await targetOf(path);
      const { state, newer } = await load(file);
      if (state !== undefined && newer !== undefined) throw stateOlder(path, state, newer);
      if (state === undefined) await assertNoneElsewhere(file, path, elsewhere);
      [refused, unwritten] = [false, undefined];
      return state;
    },
    write: (version) => offer({ is: "whole", version }),
    append: (version) => offer({ is: "event", version }),
    async lock(operation, options): Promise<Lock> {
      const lock = await acquireLock(`${await targetOf(path)}.lock`, operation, {
        ...options,
        ...defined({ hide }),
      });
      const release = async (): Promise<void> => {
        await writes.idle();
        await lock.check();
        // If this fails, the next reader does it.
        if (writer.hasLog() && !lock.lost.aborted) await writes.offer({ is: "fold" }).catch(() => undefined);
        await lock.release();
      };
      return { ...lock, release };
    },
    holder: async () => readHolder(`${await targetOf(path)}.lock`, hide),
    unlock: async (id, options) => breakLock(`${await targetOf(path)}.lock`, id, options?.force, hide),
    async readText(): Promise<Stored | undefined> {
      await writes.idle();
      const file = await targetOf(path);
      const stored = await readFileText(file, path);
      if (stored === undefined) await assertNoneElsewhere(file, path, elsewhere);
      return stored;
    },
    async replaceText(text, expected): Promise<void> {
      await writes.idle();
      await replaceFileText(await targetOf(path), path, text, expected);
      [known, live] = [undefined, undefined];
      writer.forget();
    },
    history: async () => fileHistory(await targetOf(path), path),
    readVersion: async (id) => readFileVersion(await targetOf(path), path, id),
    prepare: async () => probeFolder(await targetOf(path), path, true),
    probe: async () => probeFolder(await targetOf(path), path, false),
    close: async () => undefined,
  };
}

/** Throws if no state stands at `file`, and one was there, or stands elsewhere. */
async function assertNoneElsewhere(
  file: string,
  path: string,
  elsewhere: readonly string[] = [],
): Promise<void> {
  const [backup, log] = [await stampOf(backupOf(file)), await stampOf(logOf(file))];
  const ofLog = log === undefined ? [] : (["log"] as const);
  if (backup !== undefined) throw stateGone(path, ["backup", ...ofLog]);
  for (const place of elsewhere) {
    const other = await targetOf(place);
    const move = `move it with the files beside it: mkdir -p '${dirname(path)}' && mv '${place}'* '${dirname(path)}'`;
    if (other !== file && (await stampOf(other)) !== undefined) throw standsElsewhere(path, place, move);
  }
  if (log !== undefined) throw stateGone(path, ofLog);
}

function knownFrom({ state, stamps }: StoredState): StoredHere {
  return { version: state && versionIdOf(state), stamps };
}

function compare(expected: string | undefined, now: string | undefined): "same" | "gone" | "other" {
  if (expected === now) return "same";
  return now === undefined ? "gone" : "other";
}

function isSame(one: VersionId | undefined, other: VersionId | undefined): boolean {
  return one?.serial === other?.serial && one?.lineage === other?.lineage;
}
