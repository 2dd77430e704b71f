/** @module Adds the lines that graphform needs to a .gitignore. */
import { readFile } from "node:fs/promises";
import { fileTrouble, isFileError } from "../../files/file-trouble.ts";
import { replaceText } from "../../files/replace-text.ts";
import { GraphformError } from "../../model/errors.ts";

const file = ".gitignore";
const ignoredByGit = [".graphform/", "*.gfplan"];

/** The edit of a .gitignore. */
export interface GitignoreEdit {
  /** Undefined where there is no such file yet. */
  readonly before: string | undefined;
  readonly after: string;
}

/** The edit that adds the missing lines; undefined where none is missing. Throws `file-unwritable` where the file cannot be read. */
export async function gitignoreEdit(): Promise<GitignoreEdit | undefined> {
  const before = await readFile(file, "utf8").catch((cause: unknown) => {
    if (isFileError(cause, "ENOENT")) return undefined;
    throw unwritable(cause);
  });
  const text = (before ?? "").replace(/^\uFEFF/, "");
  const lines = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = ignoredByGit.filter((line) => !lines.has(line));
  if (missing.length === 0) return undefined;
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text === "" || text.endsWith("\n") ? "" : end;
  const added = ["# graphform: state, local platform, saved plans", ...missing, ""].join(end);
  return { before: before === undefined ? undefined : text, after: `${text}${gap}${added}` };
}

/** Writes the edit of a file that is there. Throws `file-changed` or `file-unwritable`. */
export async function extendGitignore({ before = "", after }: GitignoreEdit): Promise<void> {
  const isReplaced = await replaceText(file, before, after).catch((cause: unknown) => {
    throw unwritable(cause);
  });
  if (!isReplaced)
    throw new GraphformError("file-changed", `${file} has changed meanwhile: nothing was written`, {
      hint: "run the command again",
    });
}

function unwritable(cause: unknown): GraphformError {
  return new GraphformError("file-unwritable", `cannot write ${file}: ${fileTrouble(cause)}`, { cause });
}
