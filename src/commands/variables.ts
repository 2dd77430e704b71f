import { readFile } from "node:fs/promises";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { isObject } from "../model/json.ts";

/** Variables from --var-file and --var, as text; later ones win, and --var wins over files. */
export async function givenVariables(
  pairs: readonly string[],
  files: readonly string[],
): Promise<{ readonly [name: string]: string }> {
  const fromFiles = await Promise.all(files.map(readVariables));
  return Object.assign({}, ...fromFiles, ...pairs.map(readPair));
}

function readPair(pair: string): { readonly [name: string]: string } {
  const at = pair.indexOf("=");
  if (at > 0) return { [pair.slice(0, at)]: pair.slice(at + 1) };
  throw new GraphformError("variable-form", `--var ${pair}: it must be name=value`, {
    exitCode: exitCodes.invalid,
  });
}

async function readVariables(file: string): Promise<{ readonly [name: string]: string }> {
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    value = parse(await readFile(file, "utf8"));
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new GraphformError("variable-file", `--var-file ${file}: ${why}`, { exitCode: exitCodes.invalid });
  }
  if (!isObject(value)) {
    throw new GraphformError("variable-file", `--var-file ${file}: it must be a map of names to values`, {
      exitCode: exitCodes.invalid,
    });
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, given]) => [
      name,
      typeof given === "object" ? JSON.stringify(given) : String(given),
    ]),
  );
}
