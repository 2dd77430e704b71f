/** @module Writes reports to files, and the outputs and the summary of a step of GitHub Actions. */
import { appendFileSync } from "node:fs";
import { appendFile, mkdir, stat } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { fileTrouble } from "../../files/file-trouble.ts";
import { behindLinks, type Writer, writeResult } from "../../files/write-result.ts";
import { GraphformError } from "../../model/errors.ts";
import type { Project } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { backupOf, logOf } from "../../state/state-writer.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Files of reports by the name of their option; undefined if the option was not given. */
export interface ReportFiles {
  readonly [option: string]: string | undefined;
}

/**
 * Throws `report-file` if two options name one file, if one names a file that the command reads, which would be overwritten, or standard
 * output, which has the result of the command.
 */
export async function assertReportFiles(files: ReportFiles, read: readonly string[]): Promise<void> {
  const options = new Map<string, string>();
  const pathOf = (file: string): Promise<string> => behindLinks(file).catch(() => resolve(file));
  const inputs = await Promise.all(read.map(pathOf));
  for (const [option, file] of Object.entries(files)) {
    if (file === undefined) continue;
    if (file === "-" || file === "")
      throw new GraphformError("report-file", `--${option} needs the name of a file`, {
        hint: `standard output has the result of the command; write to a file: --${option} FILE`,
      });
    const path = await pathOf(file);
    if (inputs.includes(path))
      throw new GraphformError("report-file", `--${option} names ${file}, which this command reads`, {
        hint: "name another file: this one would be overwritten",
      });
    const other = options.get(path);
    if (other !== undefined)
      throw new GraphformError("report-file", `--${other} and --${option} name the same file ${file}`, {
        hint: "name a file of its own for each",
      });
    options.set(path, option);
  }
}

/** The files of a manifest, and those of its state if it is kept in a file. */
export function filesRead({ files, location }: Pick<Project, "files" | "location">): readonly string[] {
  if (location.type !== "file") return files;
  const { path } = location;
  return [...files, path, backupOf(path), logOf(path), `${path}.lock`];
}

/** Writes a report over an earlier one, or replaces that at once if there is a `mode`. Makes folders. Throws `report-unwritable`. */
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
    const message = `the report of --${option} cannot be written to ${file}: ${fileTrouble(cause)}`;
    throw new GraphformError("report-unwritable", message, { hint: "name another file", cause });
  }
}

/** The terminal as the writer of a file: it says that a named pipe has no reader yet. */
export function writerOf(file: string, { err, out }: Pick<Terminal, "err" | "out">): Writer {
  return { waiting: () => err(`waiting for a reader of ${file}\n`), print: out };
}

/**
 * Converts paths, which are relative to a folder, to paths with slashes from the working copy of the pipeline, or from the current folder. A
 * file outside keeps its absolute path.
 */
export function pathIn(settings: Settings, folder: string): (file: string) => string {
  const root = resolve(settings.get("GITHUB_WORKSPACE") ?? settings.get("CI_PROJECT_DIR") ?? ".");
  return (file) => {
    const whole = resolve(folder, file);
    const path = relative(root, whole);
    const isOutside = path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);
    return (isOutside ? whole : path).replaceAll("\\", "/");
  };
}

/** Converts a path like `pathIn`, to a URI: a relative one, or that of a file outside of the repository. */
export function repositoryUri(settings: Settings): (file: string) => string {
  const pathOf = pathIn(settings, ".");
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

/** Outputs by name; undefined ones are left out. */
export interface StepOutputs {
  readonly [name: string]: string | number | boolean | undefined;
}

/** Appends outputs for later steps to `GITHUB_OUTPUT`. Line breaks become blanks, so that no value begins another output. A failure is a warning. */
export function writeStepOutputs(outputs: StepOutputs, settings: Settings, terminal: Terminal): void {
  const file = settings.get("GITHUB_OUTPUT");
  if (file === undefined) return;
  const lines = Object.entries(outputs).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${String(value).replaceAll(/[\r\n]+/g, " ")}\n`],
  );
  try {
    appendFileSync(file, lines.join(""));
  } catch (error) {
    terminal.err(`warning: the outputs of this step cannot be written: ${fileTrouble(error)}\n`);
  }
}

/** Largest summary of one step in bytes; GitHub drops a larger one as a whole. */
const summaryLimit = 1024 * 1024;

/** Appends to the file of `GITHUB_STEP_SUMMARY`. `write` gets the number of bytes that are left. A failure is a warning. */
export async function appendSummary(
  write: (bytes: number) => string,
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const file = settings.get("GITHUB_STEP_SUMMARY");
  if (file === undefined) return;
  try {
    const taken = (await stat(file).catch(() => undefined))?.size ?? 0;
    const text = write(summaryLimit - taken - 1);
    if (Buffer.byteLength(text) + 1 > summaryLimit - taken)
      terminal.err("warning: the summary of this step is full: the report is not added to it\n");
    else await appendFile(file, `${text}\n`);
  } catch (error) {
    terminal.err(`warning: the summary of this step cannot be written: ${fileTrouble(error)}\n`);
  }
}
