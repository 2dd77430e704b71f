/** @module Reads the variables of one --var-file. */
import { loadManifest } from "../manifest/load.ts";
import { parseManifest } from "../manifest/parse.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";

/** Variables as text. Throws `variable-file` (exit 3), without quoting the content, which may be secret. */
export async function readVariableFile(file: string): Promise<{ readonly [name: string]: string }> {
  const { sources, problems } = await loadManifest([file]);
  const { value, findings } = parseManifest(sources);
  const [first] = [...problems, ...findings];
  if (first !== undefined || value === undefined) {
    const isOther = first === undefined || ["empty", "not-a-map"].includes(first.code);
    const { line, column } = first?.range.start ?? { line: 1, column: 1 };
    const why = isOther ? "it must be a map of names to values" : first.message;
    throw new GraphformError("variable-file", `--var-file ${file}:${line}:${column}: ${why}`, {
      exitCode: exitCodes.invalid,
      ...(isOther || first.hint === undefined ? {} : { hint: first.hint }),
    });
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, given]) => [
      name,
      typeof given === "object" ? JSON.stringify(given) : String(given),
    ]),
  );
}
