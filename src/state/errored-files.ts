/** @module Keeps the local files of one manifest for what runs could not store: beside the manifest, or in the folder for temporary files. */
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { removeDurably, temporaryEnding, writeAtomically } from "../files/atomic-write.ts";
import { fileTrouble } from "../files/file-trouble.ts";
import { asError } from "../model/errors.ts";
import { type ErroredState, erroredText, readErroredState } from "./errored-state.ts";

/** A file that was found. */
export interface FoundErrored {
  readonly path: string;
  /** The error where it cannot be read, or is another file. */
  readonly content: ErroredState | Error;
}

/** The files of one manifest. */
export interface ErroredFiles {
  /** Those that are there. */
  find(): Promise<readonly FoundErrored[]>;
  /**
   * Writes one, mode 0600, and returns its path; a file that another run has left is not replaced. `own` is the path of an
   * earlier version, which is. Rejects with an error that names each place and its trouble.
   */
  write(errored: ErroredState, own: string | undefined): Promise<string>;
  remove(path: string): Promise<void>;
}

/** Opens the files. `file` is the usual path, beside the manifest; `name` that of the manifest. */
export function openErroredFiles(file: string, name: string): ErroredFiles {
  const usual = basename(file);
  const pathsIn = async (folder: string): Promise<readonly string[]> => {
    const names = await readdir(folder).catch((): string[] => []);
    return names.filter((found) => isErrored(found, usual)).map((found) => join(folder, found));
  };
  const read = async (path: string): Promise<FoundErrored> => {
    try {
      return { path, content: readErroredState(await readFile(path, "utf8"), path, name) };
    } catch (error) {
      return { path, content: asError(error) };
    }
  };
  return {
    async find() {
      const [beside, temporary] = await Promise.all([pathsIn(dirname(file)), pathsIn(tmpdir())]);
      const found = await Promise.all([...beside, ...temporary].map(read));
      // What others have in the folder for temporary files is their business, and what a killed run has not written whole is nothing.
      return found.filter(
        ({ path, content }) =>
          !(content instanceof Error) || (beside.includes(path) && !temporaryEnding.test(path)),
      );
    },
    async write(errored, own) {
      const text = erroredText(errored);
      const another = `${process.pid}.${usual}`;
      const there = await pathsIn(dirname(file));
      const places = [there.includes(file) ? join(dirname(file), another) : file, join(tmpdir(), another)];
      const troubles: string[] = [];
      for (const path of own === undefined ? places : [own, ...places]) {
        try {
          await writeAtomically(path, text);
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
