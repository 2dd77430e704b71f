/** @module Keeps what a run could not store in local files: beside the manifest, or in the folder for temporary files. */
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { removeDurably, temporaryEnding, writeAtomically } from "../files/atomic-write.ts";
import { fileTrouble } from "../files/file-trouble.ts";
import { asError, GraphformError } from "../model/errors.ts";
import { isObject, objectIn } from "../model/json.ts";
import type { StateDocument } from "../model/state.ts";
import type { CreatedObject as AcknowledgedObject } from "../model/state-event.ts";
import { digestOf, stateFormatter } from "./document.ts";
import { readState } from "./read-state.ts";

/** A state without the key of its fingerprints. */
export type KeylessState = Omit<StateDocument, "key"> & Partial<Pick<StateDocument, "key">>;

export interface ErroredState {
  /** The address that it could not be stored at, for people. */
  readonly where: string;
  /** Without its key, unless no stored document may have it yet: the file of a job can be read by many. */
  readonly state: KeylessState;
  /** Digests (`stateDigest`) of the documents that it may replace; null: nothing is stored. */
  readonly follows: readonly (string | null)[];
  /** Objects that the run has bound since: their ids are stored nowhere else. */
  readonly created: readonly CreatedObject[];
}

export type CreatedObject = Pick<AcknowledgedObject, "address" | "id">;

export function erroredText({ state, where, follows, created }: ErroredState): string {
  const { key = "", ...keyless }: KeylessState = JSON.parse(
    stateFormatter()({ ...state, key: state.key ?? "" }),
  );
  const kept = key !== "" && follows.includes(null) ? { key } : {};
  const body = { where, follows, created, state: { ...keyless, ...kept } };
  const sha256 = digestOf(JSON.stringify(body));
  return `${JSON.stringify({ graphform: "errored", sha256, ...body }, undefined, 1)}\n`;
}

/** Reads such a file. Throws `state-foreign` for another file or a changed one, and as `readState` does. */
export function readErroredState(text: string, file: string, name?: string): ErroredState {
  const refused = (what: string, hint: string): GraphformError =>
    new GraphformError("state-foreign", `${file} is not ${what}`, { hint });
  const foreign = refused(
    "a state that a run could not store",
    "name the file that the run named: .graphform/NAME.errored.state.json beside the manifest",
  );
  const { graphform, sha256, ...body } = objectIn(text) ?? {};
  if (graphform !== "errored") throw foreign;
  if (sha256 !== digestOf(JSON.stringify(body)))
    throw refused(
      "as the run wrote it: it was changed or cut short",
      "push another copy of it; the objects that it names can also be bound with graphform import",
    );
  const { where, follows, created, state } = body;
  if (typeof where !== "string" || !Array.isArray(follows) || !Array.isArray(created) || !isObject(state))
    throw foreign;
  const { key, ...keyless } = state;
  const checked = readState(JSON.stringify({ ...keyless, key: key ?? "0".repeat(64) }), file, name);
  const { key: read, ...rest } = checked;
  return {
    where,
    state: key === undefined ? rest : { ...rest, key: read },
    follows: follows.filter((digest) => typeof digest === "string" || digest === null),
    created: created.flatMap((object) => (isCreated(object) ? [object] : [])),
  };
}

function isCreated(value: unknown): value is CreatedObject {
  return isObject(value) && typeof value["address"] === "string" && typeof value["id"] === "string";
}

export interface FoundErrored {
  readonly path: string;
  /** The error if it cannot be read, or is another file. */
  readonly content: ErroredState | Error;
}

export interface ErroredFiles {
  /** The option that names the place of the state, to put after a command: it may depend on the variables of the run. */
  readonly place?: string | undefined;
  find(): Promise<readonly FoundErrored[]>;
  /**
   * Writes one, mode 0600, and returns its path; a file that another run has left is not replaced. `own` is the path of an
   * earlier version, which is. Rejects with an error that names each place and its trouble.
   */
  write(errored: ErroredState, own: string | undefined): Promise<string>;
  remove(path: string): Promise<void>;
}

/** `file` is the usual path, beside the manifest; `name` that of the manifest. */
export function openErroredFiles(file: string, name: string, place?: string): ErroredFiles {
  const usual = basename(file);
  const pathsIn = async (folder: string): Promise<readonly string[]> => {
    const names = await readdir(folder).catch((): string[] => []);
    return names.filter((found) => isErrored(found, usual)).map((found) => join(folder, found));
  };
  const read = async (path: string): Promise<FoundErrored> => {
    const content = readFile(path, "utf8").then((text) => readErroredState(text, path, name));
    return { path, content: await content.catch(asError) };
  };
  return {
    place,
    async find() {
      const [beside, temporary] = await Promise.all([pathsIn(dirname(file)), pathsIn(tmpdir())]);
      const found = await Promise.all([...beside, ...temporary].map(read));
      // Other users may have files in the folder for temporary files, and a killed run may have left an incomplete one.
      return found.filter(
        ({ path, content }) =>
          !(content instanceof Error) || (beside.includes(path) && !temporaryEnding.test(path)),
      );
    },
    async write(errored, own) {
      const another = `${process.pid}.${usual}`;
      const there = await pathsIn(dirname(file));
      const places = [there.includes(file) ? join(dirname(file), another) : file, join(tmpdir(), another)];
      const troubles: string[] = [];
      for (const path of own === undefined ? places : [own, ...places]) {
        try {
          await writeAtomically(path, erroredText(errored));
          return path;
        } catch (error) {
          troubles.push(`${path}: ${fileTrouble(asError(error))}`);
        }
      }
      throw new Error(troubles.join("; "));
    },
    remove: removeDurably,
  };
}

/** True for the usual name, for that name after the number of a process, and for one that a killed run could not rename. */
function isErrored(found: string, usual: string): boolean {
  const name = found.replace(temporaryEnding, "");
  return name.endsWith(usual) && /^(?:\d+\.)?$/.test(name.slice(0, -usual.length));
}
