/** @module Reads the files of a manifest from disk. */
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Position, Problem } from "../model/errors.ts";
import { fileOutside } from "./limits.ts";
import { errorAt, type Fault } from "./problems/fault.ts";
import type { SourceFile } from "./source.ts";

/** The largest manifest file that is read, in bytes. */
export const manifestBytes: number = 10 * 1024 * 1024;

/** The files that were read, and the problems of the others. With problems, do not use the sources. */
export interface Loaded {
  readonly sources: readonly SourceFile[];
  readonly problems: readonly Problem[];
}

/**
 * Keeps the order given; a directory gives its `*.yaml` files in name order. A file that is not in `root`, links followed, is not opened.
 * Never rejects for a bad file.
 */
export async function loadManifest(paths: readonly string[], root?: string): Promise<Loaded> {
  return loadEach(paths, (path) => loadPath(path, root));
}

/** True if a path, with every link followed, is in a folder. */
async function isIn(root: string, path: string): Promise<boolean> {
  const [first] = relative(await realpath(root), await realpath(path)).split(sep);
  return first !== "..";
}

async function loadEach(paths: readonly string[], load: (path: string) => Promise<Loaded>): Promise<Loaded> {
  const read = await Promise.all(paths.map(load));
  return {
    sources: read.flatMap(({ sources }) => sources),
    problems: read.flatMap(({ problems }) => problems),
  };
}

/** At most `limit` bytes of a file; undefined if there are more. Rejects as node:fs does. */
export async function readBounded(path: string, limit: number): Promise<Uint8Array | undefined> {
  const bytes = await buffer(createReadStream(path, { end: limit }));
  return bytes.length > limit ? undefined : bytes;
}

async function loadPath(path: string, root: string | undefined): Promise<Loaded> {
  try {
    if (root !== undefined && !(await isIn(root, path))) return failed(path, fileOutside);
    if (!(await stat(path)).isDirectory()) return await loadFile(path, root);
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries
      .filter((entry) => !entry.isDirectory() && entry.name.endsWith(".yaml"))
      .map((entry) => entry.name);
    if (names.length === 0) return failed(path, emptyFolder);
    return await loadEach(names.sort(), (name) => loadFile(join(path, name), root));
  } catch (error) {
    return failed(path, unreadable(error));
  }
}

async function loadFile(path: string, root: string | undefined): Promise<Loaded> {
  try {
    if (root !== undefined && !((await isIn(root, path)) && (await stat(path)).isFile()))
      return failed(path, fileOutside);
    const bytes = await readBounded(path, manifestBytes);
    if (bytes === undefined) return failed(path, tooLarge);
    const decoded = decode(bytes);
    if ("fault" in decoded) return failed(path, decoded.fault, decoded.position);
    return { sources: [{ path, text: decoded.text }], problems: [] };
  } catch (error) {
    return failed(path, unreadable(error));
  }
}

const emptyFolder: Fault = {
  code: "missing-file",
  message: "the directory contains no *.yaml file",
  hint: "`graphform init` writes a manifest; -f names another file or directory",
};

const tooLarge: Fault = {
  code: "too-large",
  message: `the file is larger than ${manifestBytes / 1024 / 1024} MB`,
  hint: "split it into several files and name each with -f",
};

function unreadable(error: unknown): Fault {
  const code = codeOf(error) ?? "unknown";
  if (code === "ENOENT" || code === "ENOTDIR") {
    const hint = "`graphform init` writes a manifest; -f names another file";
    return { code: "missing-file", message: "there is no such file", hint };
  }
  const reason = code === "EACCES" || code === "EPERM" ? "permission denied" : code;
  const hint = "check that it is a readable file; -f names another";
  return { code: "unreadable-file", message: `the file cannot be read: ${reason}`, hint };
}

export function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : undefined;
}

function failed(path: string, fault: Fault, start: Position = { line: 1, column: 1 }): Loaded {
  return { sources: [], problems: [errorAt({ file: path, start, end: start }, fault)] };
}

const saveAsUtf8 = "save the file as UTF-8 text without NUL bytes";

/** Drops a byte order mark. UTF-16, NUL bytes and invalid UTF-8 are faults. */
export function decode(
  bytes: Uint8Array,
): { readonly text: string } | { readonly fault: Fault; readonly position: Position } {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    const fault: Fault = { code: "not-utf8", message: "the file is UTF-16", hint: saveAsUtf8 };
    return { fault, position: { line: 1, column: 1 } };
  }
  const text = new TextDecoder().decode(bytes);
  const nul = text.indexOf("\0");
  if (nul >= 0) {
    const message = "the file contains a NUL byte: it is not text";
    return { fault: { code: "binary", message, hint: saveAsUtf8 }, position: positionAt(text, nul) };
  }
  if (isUtf8(bytes)) return { text };
  const fault: Fault = { code: "not-utf8", message: "the file is not UTF-8 from here on", hint: saveAsUtf8 };
  return { fault, position: positionAt(text, firstBroken(text, bytes)) };
}

/** The offset of the first replacement character that the decoder has put in for invalid bytes. */
function firstBroken(text: string, bytes: Uint8Array): number {
  const encoder = new TextEncoder();
  let offset = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let from = 0;
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1)) {
    offset += encoder.encode(text.slice(from, at)).length;
    if (bytes[offset] !== 0xef || bytes[offset + 1] !== 0xbf || bytes[offset + 2] !== 0xbd) return at;
    from = at;
  }
  return 0;
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}
