/** @module Reads and replaces the whole text of a state's file, with its log folded in, and reads the version before. */
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder, removeDurably, writeAtomically } from "../files/atomic-write.ts";
import { GraphformError } from "../model/errors.ts";
import { defined, objectIn } from "../model/json.ts";
import { stateFormatter } from "./document.ts";
import { movedDocument } from "./moved.ts";
import { readState } from "./read-state.ts";
import { type FileStamps, readTexts, stampOf, stampsOf, textOf } from "./state-file.ts";
import { backupOf, logOf } from "./state-writer.ts";
import type { Stored, StoredVersion } from "./store.ts";
import { changedMeanwhile, unwritable } from "./store-trouble.ts";

const backupId = "backup";

/** Reads the document of a file as text, its log folded in. */
export async function readFileText(file: string, path: string): Promise<Stored | undefined> {
  const { text, log, stamps } = await readTexts(file);
  if (text === undefined) return undefined;
  return { text: wholeText(text, path, log), version: versionOf(stamps) };
}

/**
 * Puts a text in place of this version, without its log; the version before is kept as backup. A tombstone also replaces the backup,
 * from which a moved state must not come back, and the document itself last.
 */
export async function replaceFileText(
  file: string,
  path: string,
  text: string,
  expected: string | undefined,
): Promise<void> {
  const { document, log } = await stampsOf(file);
  if ((document === undefined ? undefined : versionOf({ document, log })) !== expected)
    throw changedMeanwhile(path);
  const moved = movedDocument(text);
  const isMoved = moved !== undefined && moved.document === undefined;
  const before = document === undefined ? undefined : await textOf(file);
  const isReplacing = before !== undefined && movedDocument(before) !== undefined;
  try {
    if (isMoved) await clearBeside(file, path, text);
    await writeAtomically(file, text, isMoved || isReplacing ? undefined : backupOf(file));
    if (log !== undefined && isReplacing) await removeDurably(logOf(file));
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Leaves the document alone, whole without its log. The backup becomes `text`. */
async function clearBeside(file: string, path: string, text: string): Promise<void> {
  const stored = await readTexts(file);
  if (stored.log !== undefined) {
    if (stored.text !== undefined && needsLog(stored.text))
      await writeAtomically(file, wholeText(stored.text, path, stored.log));
    await removeDurably(logOf(file));
  }
  await writeAtomically(backupOf(file), text);
}

/** The version beside a file, if there is one that can be read. */
export async function fileHistory(file: string, path: string): Promise<readonly StoredVersion[]> {
  const { text, log } = await backupTexts(file);
  if (text === undefined || movedDocument(text) !== undefined) return [];
  const { serial, savedAt } = readState(text, backupOf(path), undefined, log);
  return [{ id: backupId, serial, savedAt }];
}

/** The document beside a file as text. Throws `version-unknown`. */
export async function readFileVersion(file: string, path: string, id: string): Promise<string> {
  const { text, log } = id === backupId ? await backupTexts(file) : {};
  if (text === undefined) {
    throw new GraphformError("version-unknown", `the state ${path} has no version ${id}`, {
      hint: "graphform state history lists them",
    });
  }
  return wholeText(text, backupOf(path), log);
}

/** Tries to write into the folder of a state. Makes it if `making`; one that is not there is left alone otherwise. */
export async function probeFolder(file: string, path: string, making: boolean): Promise<void> {
  const folder = dirname(file);
  if (!making && (await stampOf(folder)) === undefined) return;
  const trial = join(folder, `.graphform-probe-${randomBytes(8).toString("hex")}`);
  try {
    await makeFolder(folder);
    await writeFile(trial, "", { flag: "wx", mode: 0o600 });
    await rm(trial);
  } catch (error) {
    throw unwritable(path, error);
  }
}

async function backupTexts(file: string): Promise<{ readonly text?: string; readonly log?: string }> {
  return defined({ text: await textOf(backupOf(file)), log: await textOf(logOf(file)) });
}

/** A document with the log folded in, if it needs one. */
function wholeText(text: string, path: string, log: string | undefined): string {
  if (log === undefined || !needsLog(text)) return text;
  return stateFormatter()(readState(text, path, undefined, log));
}

function needsLog(text: string): boolean {
  return objectIn(text)?.["version"] === 3;
}

function versionOf({ document, log }: FileStamps): string {
  return `${document}/${log}`;
}
