/** @module Writes reports to files. */
import { mkdir } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { fileTrouble } from "../../files/file-trouble.ts";
import { type Writer, writeResult } from "../../files/write-result.ts";
import { GraphformError } from "../../model/errors.ts";
import type { Settings } from "../../project/settings.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Files of reports by the name of their option; undefined if the option was not given. */
export interface ReportFiles {
  readonly [option: string]: string | undefined;
}

/**
 * Throws `report-file` if two options name one file, or if one of them names standard output, which has the result of the command.
 * Called before any work is done.
 */
export function assertReportFiles(files: ReportFiles): void {
  const options = new Map<string, string>();
  for (const [option, file] of Object.entries(files)) {
    if (file === undefined) continue;
    if (file === "-" || file === "") {
      throw new GraphformError("report-file", `--${option} needs the name of a file`, {
        hint: `standard output has the result of the command; write to a file: --${option} FILE`,
      });
    }
    const path = resolve(file);
    const other = options.get(path);
    if (other !== undefined) {
      throw new GraphformError("report-file", `--${other} and --${option} name the same file ${file}`, {
        hint: "name a file of its own for each",
      });
    }
    options.set(path, option);
  }
}

/**
 * Writes the report of an option and its folders. An earlier report is written over, or replaced at once if there is a `mode`. Throws
 * `report-unwritable`.
 */
export async function writeReport(
  option: string,
  file: string,
  text: string,
  terminal: Pick<Terminal, "err" | "out">,
  mode?: number,
): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeResult(file, text, writerOf(file, terminal), mode);
  } catch (cause) {
    throw new GraphformError(
      "report-unwritable",
      `the report of --${option} cannot be written to ${file}: ${fileTrouble(cause)}`,
      { hint: "name another file", cause },
    );
  }
}

/** The terminal as the writer of a file: it says that a named pipe has no reader yet. */
export function writerOf(file: string, { err, out }: Pick<Terminal, "err" | "out">): Writer {
  return { waiting: () => err(`waiting for a reader of ${file}\n`), print: out };
}

/**
 * Converts a path to one relative to the root of the repository, with slashes: GitHub's or GitLab's working copy in a pipeline, the
 * current folder otherwise. A file outside of it keeps its absolute path.
 */
function repositoryPath(settings: Settings): (file: string) => string {
  const root = resolve(settings.get("githubWorkspace") ?? settings.get("ciProjectDir") ?? ".");
  return (file) => {
    const path = relative(root, resolve(file));
    const isOutside = path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);
    return (isOutside ? resolve(file) : path).replaceAll("\\", "/");
  };
}

/** Converts paths like `repositoryPath`; relative ones are those of a folder below the current one. */
export function pathIn(settings: Settings, folder: string): (file: string) => string {
  const pathOf = repositoryPath(settings);
  return (file) => pathOf(resolve(folder, file));
}

/** Converts a path like `repositoryPath`, to a URI: a relative one, or that of a file outside of the repository. */
export function repositoryUri(settings: Settings): (file: string) => string {
  const pathOf = repositoryPath(settings);
  return (file) => {
    const path = pathOf(file);
    return isAbsolute(path)
      ? pathToFileURL(path).href
      : path
          .split("/")
          .map((part) => encodeURIComponent(part.toWellFormed()))
          .join("/");
  };
}
