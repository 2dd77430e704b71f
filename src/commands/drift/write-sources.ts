/** @module Writes the edited files of a manifest, all of them or none. */

import { replaceText } from "../../files/replace-text.ts";
import type { SourceFile } from "../../manifest/source.ts";
import { GraphformError } from "../../model/errors.ts";
import { escapeText } from "../../report/escape.ts";

/** A file that was written, and its text of before. */
export interface Written {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** Writes the files whose texts differ. Throws `file-changed` or `file-unwritable`; files written until then are put back. */
export async function writeSources(
  before: readonly SourceFile[],
  after: readonly SourceFile[],
): Promise<readonly Written[]> {
  const texts = new Map(after.map(({ path, text }) => [path, text]));
  const changed = new Map(
    before.flatMap(({ path, text }): [string, Written][] => {
      const edited = texts.get(path) ?? text;
      return edited === text ? [] : [[path, { path, before: text, after: edited }]];
    }),
  );
  const written: Written[] = [];
  try {
    for (const file of changed.values()) {
      if (!(await replaced(file.path, file.before, file.after))) throw changedMeanwhile(file.path);
      written.push(file);
    }
    return written;
  } catch (error) {
    for (const file of written) await replaced(file.path, file.after, file.before);
    throw error;
  }
}

async function replaced(path: string, before: string, after: string): Promise<boolean> {
  try {
    return await replaceText(path, before, after);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new GraphformError("file-unwritable", `cannot write ${escapeText(path, 300)}: ${code}`, { cause });
  }
}

function changedMeanwhile(path: string): GraphformError {
  return new GraphformError(
    "file-changed",
    `${escapeText(path, 300)} has changed meanwhile: nothing was written`,
    {
      hint: "run the command again",
    },
  );
}
