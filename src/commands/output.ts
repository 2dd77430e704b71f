/** @module Prints the outputs that the last apply recorded. */
import { exitCodes, GraphformError } from "../model/errors.ts";
import { isObject, own, stableJson } from "../model/json.ts";
import { holdsSecret } from "../model/sealed.ts";
import type { RecordedOutput } from "../model/state.ts";
import { openProject } from "../project/project.ts";
import { shownOutputs } from "../report/shown.ts";
import { outputsJson, outputsText } from "../report/state-text.ts";
import { escapeLines, escapeText, jsonText, makePalette } from "../report/typeset.ts";
import type { Invocation, ManifestOptions } from "./with-run.ts";

/** `output`: prints all outputs or one; `raw` prints one value without quotes. Throws `output-unknown`, `output-raw`. */
export async function output(
  { options, settings, terminal }: Invocation<ManifestOptions & { readonly raw?: boolean }>,
  name: string | undefined,
): Promise<number> {
  const project = await openProject(options, settings);
  const outputs = (await project.store.read())?.outputs ?? {};
  const declared = project.parsed.value?.["outputs"];
  const names = isObject(declared) ? Object.keys(declared) : [];
  const unknown = names.filter((declaredName) => own(outputs, declaredName) === undefined);
  const named = name === undefined ? undefined : own(outputs, name);
  if (name === undefined && unknown.length > 0)
    terminal.err(
      `declared and not known yet: ${escapeText(unknown.join(", "), 500)}; graphform plan says what is missing\n`,
    );
  if (name !== undefined && named === undefined) throw unknownOutput(name, unknown, Object.keys(outputs));
  const chosen = shownOutputs(name === undefined || named === undefined ? outputs : { [name]: named });
  if (options.raw === true) {
    if (name === undefined || named === undefined)
      throw new GraphformError("output-raw", "--raw needs the name of an output");
    terminal.out(rawValue(name, named));
  } else if (options.json === true) {
    const json = outputsJson(chosen);
    terminal.out(`${jsonText(name === undefined ? json : (own(json, name) ?? null))}\n`);
  } else terminal.out(outputsText(chosen, makePalette(terminal.colour)));
  return exitCodes.done;
}

function unknownOutput(name: string, unknown: readonly string[], known: readonly string[]): GraphformError {
  if (unknown.includes(name))
    return new GraphformError("output-unknown", `the output "${name}" is declared and has no value yet`, {
      hint: "graphform plan says what is missing; apply records it once it is known",
    });
  return new GraphformError("output-unknown", `there is no output "${name}"`, {
    hint:
      known.length === 0
        ? "nothing was applied yet, or the manifest has no outputs"
        : `there are: ${known.join(", ")}`,
  });
}

/**
 * One value for a script, without quotes and line break. A sensitive value is printed, because it was requested by name; a
 * secret is not, because the state has only its fingerprint. Throws `output-secret` and `output-not-text`.
 */
export function rawValue(name: string, { value }: RecordedOutput): string {
  if (holdsSecret(value))
    throw new GraphformError(
      "output-secret",
      `output "${escapeText(name)}" is a secret, and secrets are not stored`,
      { hint: "read it from the source that the manifest names" },
    );
  if (typeof value === "object" && value !== null)
    throw new GraphformError(
      "output-not-text",
      `output "${escapeText(name)}" is a ${Array.isArray(value) ? "list" : "map"}`,
      { hint: "use --json" },
    );
  if (value === null) return "";
  return escapeLines(typeof value === "string" ? value : stableJson(value));
}
