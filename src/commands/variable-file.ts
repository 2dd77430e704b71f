import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { isObject } from "../model/json.ts";

/** The variables of one --var-file, as text. Throws `variable-file` (exit 3). */
export async function readVariableFile(file: string): Promise<{ readonly [name: string]: string }> {
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
