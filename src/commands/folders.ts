/** @module Runs commands in the folders that --chdir names. */
import { realpathSync, statSync } from "node:fs";
import process from "node:process";
import { fileTrouble } from "../files/file-trouble.ts";
import { exitCodes, GraphformError, ownError } from "../model/errors.ts";
import { assertOwnState, placeOf } from "../project/locate-state.ts";
import type { Project } from "../project/project.ts";
import type { Settings } from "../project/settings.ts";
import type { ManifestResult } from "../report/manifest-result.ts";

/** Makes a folder the current one, as if the command had been started there. Throws `folder-missing`. */
export function enterFolder(folder: string): void {
  try {
    process.chdir(folder);
  } catch (cause) {
    throw missingFolder(folder, fileTrouble(cause), cause);
  }
}

function missingFolder(folder: string, why: string, cause?: unknown): GraphformError {
  const hint = "name a folder that exists, relative to the one where the command is started";
  return new GraphformError("folder-missing", `--chdir ${folder}: ${why}`, { hint, cause });
}

/** Throws if one of several folders is missing, or is named twice: a manifest would be counted twice. */
function assertFolders(folders: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const folder of folders) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw missingFolder(folder, "there is no such folder");
    const path = realpathSync(folder);
    const other = seen.get(path);
    if (other !== undefined) {
      throw new GraphformError("folder-twice", `--chdir ${other} and --chdir ${folder} are the same folder`, {
        hint: "name each folder once",
      });
    }
    seen.set(path, folder);
  }
}

/** Throws `one-folder` for a command that works in one folder alone. */
export function refuseSeveral(command: string): never {
  throw new GraphformError("one-folder", `${command} works in one folder, and --chdir names several`, {
    hint: "run it once for each; plan, drift and validate take several at once",
  });
}

/** Takes note of a manifest as soon as it is open. Throws `state-shared` if another one of the run keeps its state in the same place. */
export type Opened = (project: Pick<Project, "header" | "location" | "files">) => Promise<void>;

/**
 * Does the work in each folder, one after the other, and `end` with its result. The work gives its manifest away as soon as it is open. An
 * error is the result of its folder, and the others go on; Ctrl-C ends all. The current folder is the same afterwards.
 */
export async function inEachFolder<T>(
  folders: readonly string[],
  { secrets }: Pick<Settings, "secrets">,
  work: (opened: Opened) => Promise<T>,
  end: (result: ManifestResult<T>) => Promise<void> = async () => undefined,
): Promise<readonly ManifestResult<T>[]> {
  assertFolders(folders);
  const start = process.cwd();
  const results: ManifestResult<T>[] = [];
  const states = new Map<string, string>();
  for (const folder of folders) {
    let name = "";
    const opened: Opened = async ({ header, location }) => {
      name = header.name;
      const place = await placeOf(location);
      assertOwnState(states.get(place), folder, place);
      states.set(place, folder);
    };
    const failed = (thrown: unknown): ManifestResult<T> => ({
      folder,
      name,
      is: "failed",
      error: ownError(thrown, secrets.hide),
    });
    const ended = (result: ManifestResult<T>): Promise<ManifestResult<T>> => end(result).then(() => result);
    const made = async (): Promise<ManifestResult<T>> => {
      enterFolder(folder);
      const value = await work(opened);
      return ended({ folder, name, is: "made", value });
    };
    const result = await made()
      .catch((thrown: unknown) => ended(failed(thrown)))
      .catch(failed)
      .finally(() => process.chdir(start));
    if (result.is === "failed" && result.error.exitCode === exitCodes.interrupted) throw result.error;
    results.push(result);
  }
  return results;
}
