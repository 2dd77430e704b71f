/** @module Prints the outputs that the last apply recorded. */
import { exitCodes, GraphformError } from "../model/errors.ts";
import { own } from "../model/own.ts";
import { openProject } from "../project/project.ts";
import type { Settings } from "../project/settings.ts";
import { jsonText } from "../report/json-text.ts";
import { outputsJson } from "../report/outputs-json.ts";
import { outputsText, rawOutput } from "../report/outputs-text.ts";
import { makePalette } from "../report/palette.ts";
import type { ManifestOptions } from "./options.ts";
import type { Terminal } from "./terminal.ts";

/** `output`: prints all outputs or one; `raw` prints one value without quotes. Throws `output-unknown`, `output-raw`. */
export async function output(
  name: string | undefined,
  options: ManifestOptions & { readonly json?: boolean; readonly raw?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const project = await openProject(options, settings);
  const outputs = (await project.store.read())?.outputs ?? {};
  if (name !== undefined && own(outputs, name) === undefined) {
    const known = Object.keys(outputs);
    throw new GraphformError("output-unknown", `there is no output "${name}"`, {
      hint:
        known.length === 0
          ? "nothing was applied yet, the manifest has no outputs, or none is known: graphform plan says what is missing"
          : `there are: ${known.join(", ")}; of a declared one that is not known yet, graphform plan says what is missing`,
    });
  }
  const chosen =
    name === undefined
      ? outputs
      : Object.fromEntries(Object.entries(outputs).filter(([key]) => key === name));
  if (options.raw === true) {
    if (name === undefined) throw new GraphformError("output-raw", "--raw needs the name of an output");
    terminal.out(rawOutput(outputs, name));
  } else if (options.json === true) {
    const json = outputsJson(chosen);
    terminal.out(`${jsonText(name === undefined ? json : (own(json, name) ?? null))}\n`);
  } else terminal.out(outputsText(chosen, makePalette(terminal.colour)));
  return exitCodes.done;
}
