/** @module Reads and rotates the log of a server. */
import { readFile, rename, stat } from "node:fs/promises";

/** Moves the log of the previous run aside, so that the file is about one run only. */
export async function rotateLog(log: string): Promise<void> {
  const size = await stat(log).then(
    (found) => found.size,
    () => 0,
  );
  if (size > 0) await rename(log, log.replace(/\.log$/, ".previous.log"));
}

/** True where a server ended because its port was in use. */
export async function portWasTaken(log: string): Promise<boolean> {
  return /Address already in use|Failed listening on port/.test(await textOf(log));
}

/**
 * One line from the log of a server that did not start, without password hashes: its last warnings, or the end of the log where it
 * has none (errors of the loader).
 */
export async function logExcerpt(log: string): Promise<string> {
  const lines = (await textOf(log)).split("\n").filter((line) => line.trim() !== "");
  const warnings = lines.flatMap((line) => {
    const at = line.indexOf(" # ");
    return at < 0 || line.startsWith("WARNING ", at + 3) ? [] : [line.slice(at + 3)];
  });
  const words =
    warnings.length > 0 ? warnings.slice(-3) : lines.filter((line) => !/ [*.-] /.test(line)).slice(-4);
  return words.join("; ").replace(/#?\b[0-9a-f]{64}\b/g, "(hash)") || "it said nothing";
}

function textOf(log: string): Promise<string> {
  return readFile(log, "utf8").catch(() => "");
}
