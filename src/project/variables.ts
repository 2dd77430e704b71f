import { exitCodes, GraphformError } from "../model/errors.ts";

/** Variables from --var-file and --var, as text; later ones win, and --var wins over files. */
export async function givenVariables(
  pairs: readonly string[],
  files: readonly string[],
): Promise<{ readonly [name: string]: string }> {
  const fromFiles = files.length === 0 ? [] : await readAll(files);
  return Object.fromEntries([...fromFiles, ...pairs.map(readPair)].flatMap((given) => Object.entries(given)));
}

/** Variable files are rare: what reads them is loaded where there are any. */
async function readAll(files: readonly string[]): Promise<readonly { readonly [name: string]: string }[]> {
  const { readVariableFile } = await import("./variable-file.ts");
  return Promise.all(files.map(readVariableFile));
}

function readPair(pair: string): { readonly [name: string]: string } {
  const at = pair.indexOf("=");
  if (at > 0) return { [pair.slice(0, at)]: pair.slice(at + 1) };
  // What stands there may be a secret: it is not repeated.
  throw new GraphformError("variable-form", "--var must be followed by name=value, and one of them is not", {
    exitCode: exitCodes.invalid,
  });
}
