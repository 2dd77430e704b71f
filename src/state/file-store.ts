import { dirname } from "node:path";
import { writeAtomically } from "../files/atomic-write.ts";
import { fileTrouble } from "../files/file-trouble.ts";
import { GraphformError } from "../model/errors.ts";
import type { StateDocument } from "../model/state.ts";
import { stateFormatter } from "./format-state.ts";
import { acquireLock, breakLock, readHolder } from "./lock.ts";
import { mergeCalls } from "./merge-calls.ts";
import { readState } from "./read-state.ts";
import { markOf, targetOf, textOf } from "./state-file.ts";
import type { StateStore } from "./store.ts";

export interface FileStoreOptions {
  readonly path: string;
  /** The manifest's name: a state of another name is refused. Without it any state will do. */
  readonly name?: string;
  /**
   * Where the state could stand as well, had the command been run from another folder: one that is found there while
   * nothing stands at `path` is refused rather than a second one begun.
   */
  readonly elsewhere?: string;
}

/** A version on the disk. `mark` tells it from every other file that ever stood there. */
interface Stored {
  readonly serial: number;
  readonly lineage: string;
  readonly mark: string;
}

/**
 * A state in a file: written atomically with mode 0600, the version before kept as `<path>.backup`, the lock beside it
 * as `<path>.lock`. Where the path is a link, all of this happens where it leads.
 *
 * A write follows what this store knows: what it read, or wrote, last. Somebody else's write in between refuses it and
 * every further one until the state is read again. A file that vanished meanwhile is written anew: nothing is lost by
 * that. One that is gone before it is read, and has left its previous version, was lost: `read` throws `state-gone`, for
 * with nothing remembered everything would be made a second time.
 */
export function createFileStore({ path, name, elsewhere }: FileStoreOptions): StateStore {
  const format = stateFormatter();
  /** What is stored as far as this store knows; undefined where nothing is, or before it has looked. */
  let known: Stored | undefined;
  let looked = false;
  /** A version that could not be written although it followed: the one after it follows as well. */
  let unwritten: number | undefined;
  let refused = false;
  let newest: StateDocument | undefined;
  let busy = 0;

  const load = async (file: string): Promise<StateDocument | undefined> => {
    const mark = await markOf(file);
    const text = mark === undefined ? undefined : await textOf(file);
    const state = text === undefined ? undefined : readState(text, path, name);
    known = state === undefined || mark === undefined ? undefined : { ...identity(state), mark };
    looked = true;
    return state;
  };

  const follows = async (
    first: StateDocument,
    file: string,
    before: number | undefined,
  ): Promise<boolean> => {
    const mark = await markOf(file);
    if (mark !== undefined && mark !== known?.mark) {
      const [old, any] = [known, !looked];
      await load(file);
      if (!any && (old?.serial !== known?.serial || old?.lineage !== known?.lineage)) return false;
    }
    if (known !== undefined && known.lineage !== first.lineage) return false;
    return first.serial - 1 === (known?.serial ?? 0) || first.serial - 1 === before;
  };

  const store = async (versions: readonly StateDocument[]): Promise<void> => {
    const first = versions[0];
    const last = versions.at(-1);
    if (first === undefined || last === undefined) return;
    const before = unwritten;
    unwritten = last.serial;
    const file = await targetOf(path);
    if (refused || !(await follows(first, file, before))) {
      refused = true;
      throw conflict(path, first, known);
    }
    try {
      await writeAtomically(file, format(last), `${file}.backup`);
    } catch (error) {
      throw unwritable(path, error);
    }
    unwritten = undefined;
    looked = true;
    const mark = await markOf(file);
    known = mark === undefined ? undefined : { ...identity(last), mark };
  };
  const writes = mergeCalls(store);

  return {
    where: path,
    async read(): Promise<StateDocument | undefined> {
      await writes.idle();
      const file = await targetOf(path);
      const state = await load(file);
      if (state === undefined && (await markOf(`${file}.backup`)) !== undefined) throw gone(path);
      if (state === undefined && elsewhere !== undefined && (await isOther(file, elsewhere)))
        throw standsElsewhere(path, elsewhere);
      [refused, unwritten] = [false, undefined];
      return state;
    },
    async write(next): Promise<void> {
      const behind =
        busy > 0 &&
        newest !== undefined &&
        (next.serial !== newest.serial + 1 || next.lineage !== newest.lineage);
      if (behind) throw conflict(path, next, newest);
      newest = next;
      busy += 1;
      try {
        await writes.offer(next);
      } finally {
        busy -= 1;
      }
    },
    lock: async (operation, options) => acquireLock(`${await targetOf(path)}.lock`, operation, options),
    holder: async () => readHolder(`${await targetOf(path)}.lock`),
    unlock: async (id, options) => breakLock(`${await targetOf(path)}.lock`, id, options?.force),
  };
}

async function isOther(file: string, elsewhere: string): Promise<boolean> {
  const other = await targetOf(elsewhere);
  return other !== file && (await markOf(other)) !== undefined;
}

function standsElsewhere(where: string, elsewhere: string): GraphformError {
  return new GraphformError(
    "state-elsewhere",
    `no state at ${where}, and there is one at ${elsewhere}: a second one would create everything once more`,
    {
      hint: `name it with --state '${elsewhere}', or move it: mkdir -p '${dirname(where)}' && mv '${elsewhere}' '${where}'`,
    },
  );
}

function gone(where: string): GraphformError {
  return new GraphformError(
    "state-gone",
    `the state ${where} is gone, and its previous version is still there`,
    {
      hint: `put it back: cp '${where}.backup' '${where}'; or, to begin with nothing, remove that one as well`,
    },
  );
}

function identity({ serial, lineage }: StateDocument): Pick<Stored, "serial" | "lineage"> {
  return { serial, lineage };
}

function conflict(
  where: string,
  next: StateDocument,
  stored: Pick<Stored, "serial" | "lineage"> | undefined,
): GraphformError {
  const found = stored === undefined ? "nothing is stored there" : `it is at version ${stored.serial} now`;
  const other = stored !== undefined && stored.lineage !== next.lineage;
  return new GraphformError(
    "state-conflict",
    other
      ? `the state ${where} was replaced by one of another history`
      : `the state ${where} was changed by somebody else: version ${next.serial} was to be written, but ${found}`,
    { hint: "nothing was overwritten; run the command again, it starts from what is stored" },
  );
}

function unwritable(where: string, cause: unknown): GraphformError {
  return new GraphformError(
    "state-unwritable",
    `the state ${where} could not be written: ${fileTrouble(cause)}`,
    {
      hint: "the version before is intact; make room or allow writing there, then run the command again",
      cause,
    },
  );
}
