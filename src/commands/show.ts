/** @module Prints what is recorded: the state, a saved plan, and the outputs of the last apply. */
import { kinds } from "../kinds/index.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { isObject, own, stableJson } from "../model/json.ts";
import { holdsSecret } from "../model/sealed.ts";
import type { RecordedOutput, StateDocument } from "../model/state.ts";
import { openProject } from "../project/project.ts";
import { planJson } from "../report/plan-json.ts";
import { redactOutputs, redactPlan, redactState } from "../report/redact.ts";
import { outputsJson, outputsText, stateJson, stateText } from "../report/state-text.ts";
import { reportText } from "../report/text/report-text.ts";
import { escapeLines, escapeText, jsonText, makePalette } from "../report/typeset.ts";
import { planView } from "../report/view/plan-view.ts";
import { emptyState } from "../state/document.ts";
import { readPlanFile } from "../state/plan-file.ts";
import { comparison, writeOwnFiles } from "./reports/write-reports.ts";
import { type Invocation, type InvocationWith, latestStateOf } from "./with-run.ts";

/** `show [PLANFILE]`: prints the state, or the plan of a file, as text or JSON. */
export async function show(
  { options, settings, terminal }: InvocationWith<{ readonly html?: string; readonly compare?: string }>,
  planFile?: string,
): Promise<number> {
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  if (planFile !== undefined) {
    const saved = await readPlanFile(planFile);
    const compared = await comparison(options);
    const plan = redactPlan(saved.plan, kinds);
    if (options.html !== undefined) {
      const { planReport } = await import("./plan-command.ts");
      const value = { plan, ...compared(saved.plan, kinds) };
      const kind = planReport({ html: options.html, out: planFile }, terminal);
      await writeOwnFiles({ folder: ".", name: plan.name, is: "made", value }, kind, terminal);
    }
    terminal.out(
      options.json === true ? `${jsonText(planJson(plan, kinds))}\n` : reportText(planView(plan), page),
    );
    return exitCodes.done;
  }
  if (options.html !== undefined || options.compare !== undefined)
    throw new GraphformError("report-option", "--html shows a saved plan, and none is named", {
      hint: "graphform plan --out FILE saves one: graphform show FILE --html PAGE",
    });
  const project = await openProject(options, settings);
  const stored = await latestStateOf(project.store, terminal);
  if (stored === undefined && options.json !== true) {
    terminal.out(`No state at ${project.store.where}.\n`);
    return exitCodes.done;
  }
  return printState(stored ?? emptyState(project.header.name), { options, terminal });
}

export function printState(
  state: StateDocument,
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
): number {
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  const shown = redactState(state, kinds);
  terminal.out(options.json === true ? `${jsonText(stateJson(shown, kinds))}\n` : stateText(shown, page));
  return exitCodes.done;
}

/** `output`: prints all outputs or one; `raw` prints one value without quotes. Throws `output-unknown`, `output-raw`. */
export async function output(
  { options, settings, terminal }: InvocationWith<{ readonly raw?: boolean }>,
  name: string | undefined,
): Promise<number> {
  const project = await openProject(options, settings);
  const outputs = (await project.store.read())?.outputs ?? {};
  const declared = project.parsed.value?.["outputs"];
  const names = isObject(declared) ? Object.keys(declared) : [];
  const unknown = names.filter((declaredName) => own(outputs, declaredName) === undefined);
  const named = name === undefined ? undefined : own(outputs, name);
  const listed = escapeText(unknown.join(", "), 500);
  if (name === undefined && unknown.length > 0)
    terminal.err(`declared and not known yet: ${listed}; graphform plan says what is missing\n`);
  if (name !== undefined && named === undefined) throw unknownOutput(name, unknown, Object.keys(outputs));
  const chosen = redactOutputs(name === undefined || named === undefined ? outputs : { [name]: named });
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
  const none = "nothing was applied yet, or the manifest has no outputs";
  const hint = known.length === 0 ? none : `there are: ${known.join(", ")}`;
  return new GraphformError("output-unknown", `there is no output "${name}"`, { hint });
}

/** One value for a script, without quotes; also a sensitive one, which was asked for by name. Throws `output-secret`, `output-not-text`. */
export function rawValue(name: string, { value }: RecordedOutput): string {
  const named = `output "${escapeText(name)}"`;
  if (holdsSecret(value))
    throw new GraphformError("output-secret", `${named} is a secret, and secrets are not stored`, {
      hint: "read it from the source that the manifest names",
    });
  const shape = Array.isArray(value) ? "list" : "map";
  if (typeof value === "object" && value !== null)
    throw new GraphformError("output-not-text", `${named} is a ${shape}`, { hint: "use --json" });
  if (value === null) return "";
  return escapeLines(typeof value === "string" ? value : stableJson(value));
}
