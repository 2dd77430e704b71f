/** @module Collects the variables of --var and --var-file. */
import { exitCodes, GraphformError } from "../model/errors.ts";

/** Variables as text. Later ones override earlier ones, and --var overrides files. Throws `variable-form`. */
export async function givenVariables(
  pairs: readonly string[],
  files: readonly string[],
): Promise<{ readonly [name: string]: string }> {
  const fromFiles = files.length === 0 ? [] : await readAll(files);
  return Object.fromEntries([...fromFiles, ...pairs.map(readPair)].flatMap((given) => Object.entries(given)));
}

/** Loads the reader of variable files only if there are any, which is rare. */
async function readAll(files: readonly string[]): Promise<readonly { readonly [name: string]: string }[]> {
  const { readVariableFile } = await import("./variable-file.ts");
  return Promise.all(files.map(readVariableFile));
}

function readPair(pair: string): { readonly [name: string]: string } {
  const at = pair.indexOf("=");
  if (at > 0) return { [pair.slice(0, at)]: pair.slice(at + 1) };
  // The text may be a secret, so the message does not repeat it.
  throw new GraphformError("variable-form", "--var must be followed by name=value, and one of them is not", {
    exitCode: exitCodes.invalid,
  });
}
