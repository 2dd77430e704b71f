/** @module Writes live values into the manifest, once a plan of the edited manifest has proven that they settle the drift. */
import { kinds } from "../../kinds/index.ts";
import type { DriftReport } from "../../model/drift.ts";
import { exitCodes, GraphformError, isManifestError } from "../../model/errors.ts";
import type { Manifest } from "../../model/manifest.ts";
import type { Plan } from "../../model/plan.ts";
import type { ReadManifest, Run } from "../../project/open-run.ts";
import { type Project, projectOf, resolveProject } from "../../project/project.ts";
import type { Drift } from "../../reconcile/reconcile.ts";
import { escapeText } from "../../report/escape.ts";
import { makePalette } from "../../report/palette.ts";
import { amount } from "../../report/words.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Invocation } from "../with-run.ts";
import { type AdoptedField, adoptedFields, isSettled, leftOutText } from "./adopted-fields.ts";
import type { DriftOptions } from "./drift-reports.ts";
import { type ChangedLines, editSources, type Written, writeSources } from "./edit-sources.ts";

/**
 * `drift --adopt`: writes the live values of the named fields into the files that hold them, and prints the lines that
 * changed. All or nothing: the edited manifest is checked and planned first, its drift of these fields must be gone, and
 * nothing else may change. Writes neither the service nor the state.
 */
export async function adopt(
  drift: Drift,
  run: Run & ReadManifest,
  { options, settings, terminal }: Invocation<DriftOptions>,
  observeAgain: (project: Project, manifest: Manifest) => Promise<Drift>,
): Promise<number> {
  const { project, manifest } = run;
  const fields = adoptedFields(options.adopt, drift, manifest, kinds);
  const leftOut = leftOutText(options.adopt, drift.report);
  if (fields.length === 0) {
    terminal.err(
      leftOut === ""
        ? "nothing to adopt: nothing that could be seen there differs from what is declared\n"
        : leftOut,
    );
    return exitCodes.done;
  }
  const before = project.parsed.layers.map(({ file, text }) => ({ path: file, text }));
  const { sources, changed } = editSources(before, fields, manifest, kinds);
  const edited = await projectOf(sources, options, project.timestamp, settings);
  const resolved = await resolveProject(edited, run.state, run.secrets).catch((error: unknown) => {
    throw isManifestError(error) ? invalid(error.problems[0]?.message ?? error.message) : error;
  });
  const next = await observeAgain(edited, resolved.manifest);
  assertSettled(fields, next.report);
  assertNothingElse(fields, drift.plan, next.plan);
  const written = await writeSources(before, sources);
  terminal.out(diffText(changed, terminal));
  terminal.err(leftOut + closing(fields, written, next.report));
  return exitCodes.done;
}

/** Throws unless the second look finds every adopted field as it is declared now. */
function assertSettled(fields: readonly AdoptedField[], { resources }: DriftReport): void {
  const left = fields.find((adopted) =>
    resources
      .find(({ address }) => address === adopted.address)
      ?.fields.some((field) => field.path === adopted.path && !isSettled(adopted, field, kinds)),
  );
  if (left === undefined) return;
  throw new GraphformError(
    "adopt-unsettled",
    `${left.address} ${left.path} would still differ: nothing was written`,
    { hint: "it has changed meanwhile, or the manifest sets it elsewhere, too; graphform drift shows it" },
  );
}

/** Throws if the edited manifest would change what the manifest of before does not; a probed value is applied in place. */
function assertNothingElse(fields: readonly AdoptedField[], before: Plan, after: Plan): void {
  const probed = fields.filter(({ isProbed }) => isProbed);
  const own = probed.flatMap(({ address, path }) => [address, `${address} ${path}`]);
  const known = new Set([...changesIn(before), ...own]);
  const [added] = changesIn(after).filter((change) => !known.has(change));
  if (added === undefined) return;
  throw new GraphformError(
    "adopt-changes-more",
    `the edited manifest would also change ${added}: nothing was written`,
    { hint: "edit it by hand, and look at graphform plan" },
  );
}

function changesIn({ changes }: Plan): readonly string[] {
  return changes.flatMap(({ address, action, fields }) =>
    action === "keep" ? [] : [address, ...fields.map(({ path }) => `${address} ${path}`)],
  );
}

function invalid(message: string): GraphformError {
  return new GraphformError("adopt-refused", `the live value cannot stand in the manifest: ${message}`, {
    hint: "graphform apply puts the declared value back; nothing was written",
  });
}

function diffText(changed: readonly ChangedLines[], { colour }: Pick<Terminal, "colour">): string {
  const palette = makePalette(colour);
  return changed
    .map(({ file, line, before, after }) =>
      [
        palette.bold(`${escapeText(file, 300)}:${line}`),
        ...before.map((text) => palette.red(`- ${escapeText(text)}`)),
        ...after.map((text) => palette.green(`+ ${escapeText(text)}`)),
        "",
      ].join("\n"),
    )
    .join("\n");
}

function closing(
  fields: readonly AdoptedField[],
  written: readonly Written[],
  { resources }: DriftReport,
): string {
  const left = resources.filter((resource) => resource.class === "outside").length;
  const rest = left === 0 ? "no drift is left" : `${amount(left, "resource")} still changed outside`;
  return `${amount(fields.length, "value")} written to ${amount(written.length, "file")}; ${rest}.\n`;
}
