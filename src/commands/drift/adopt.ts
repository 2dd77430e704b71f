/** @module Writes live values into the manifest, once a plan of the edited manifest has proven that they settle the drift. */
import { kinds } from "../../kinds/index.ts";
import { isAdoptRefusal } from "../../manifest/adopt/adopt-value.ts";
import { suggest } from "../../manifest/problems/fault.ts";
import type { Layer } from "../../manifest/source.ts";
import { type Address, type AddressParts, parseAddress, undeclaring } from "../../model/address.ts";
import type { DriftReport, FieldDrift, ResourceDrift } from "../../model/drift.ts";
import { exitCodes, GraphformError, isManifestError, type SourceRange } from "../../model/errors.ts";
import { fieldRows, rowAt } from "../../model/field-schema.ts";
import type { Kind, KindRegistry } from "../../model/kind.ts";
import type { Manifest } from "../../model/manifest.ts";
import type { Plan } from "../../model/plan.ts";
import { sameValue } from "../../model/values.ts";
import type { ReadManifest, Run } from "../../project/open-run.ts";
import { type Project, projectOf, resolveProject } from "../../project/project.ts";
import type { Drift } from "../../reconcile/reconcile.ts";
import { escapeText, makePalette } from "../../report/typeset.ts";
import { amount } from "../../report/words.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Invocation } from "../with-run.ts";
import type { DriftOptions } from "./drift-reports.ts";
import { type AdoptedField, type ChangedLines, editOf, editSources, writeSources } from "./edit-sources.ts";

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
  const resolved = await resolveProject(edited, run.state.key, run.secrets).catch((error: unknown) => {
    if (!isManifestError(error)) throw error;
    const message = error.problems[0]?.message ?? error.message;
    throw new GraphformError("adopt-refused", `the live value cannot stand in the manifest: ${message}`, {
      hint: "graphform apply puts the declared value back; nothing was written",
    });
  });
  const next = await observeAgain(edited, resolved.manifest);
  assertSettled(fields, next.report);
  assertNothingElse(fields, drift.plan, next.plan);
  const written = await writeSources(before, sources);
  terminal.out(diffText(changed, terminal));
  const left = next.report.resources.filter((resource) => resource.class === "outside").length;
  const rest = left === 0 ? "no drift is left" : `${amount(left, "resource")} still changed outside`;
  terminal.err(
    `${leftOut}${amount(fields.length, "value")} written to ${amount(written, "file")}; ${rest}.\n`,
  );
  return exitCodes.done;
}

/** Throws unless the second look finds every adopted field as it is declared now. */
function assertSettled(fields: readonly AdoptedField[], { resources }: DriftReport): void {
  const left = fields.find((adopted) =>
    resources
      .find(({ address }) => address === adopted.address)
      ?.fields.some((field) => field.path === adopted.path && !isAsDeclared(adopted, field, kinds)),
  );
  if (left === undefined) return;
  throw new GraphformError(
    "adopt-unsettled",
    `${left.address} ${left.path} would still differ: nothing was written`,
    { hint: "it has changed meanwhile, or the manifest sets it elsewhere, too; graphform drift shows it" },
  );
}

/** Throws if the edited manifest would change more than the one before; a probed value is applied in place. */
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

/**
 * The fields that `--adopt ADDRESS[.FIELD]` names; an address alone stands for every field of it that was changed outside. Throws if it is
 * not declared, if no live value says what happened, and if the object is in doubt or another one.
 */
export function adoptedFields(
  targets: readonly string[],
  { report, plan }: { readonly report: DriftReport; readonly plan: Pick<Plan, "changes"> },
  { desired }: Pick<Manifest, "desired">,
  kinds: KindRegistry,
): readonly AdoptedField[] {
  const declared = desired.map(({ address }) => address);
  const found = targets.flatMap((target) => {
    const { address, parts, path } = parseTarget(target, declared);
    if (path !== undefined) assertField(address, path, kinds.named(parts.section));
    const change = plan.changes.find((candidate) => candidate.address === address);
    const doubt = change?.blocked.find(({ code }) => code === "another-object" || code === "in-doubt");
    if (doubt !== undefined) throw refused(address, doubt.message, doubt.lift);
    const resource = report.resources.find((candidate) => candidate.address === address);
    return resource === undefined ? [] : fieldsOf(resource, parts, path);
  });
  return [...new Map(found.map((field) => [`${field.address} ${field.path}`, field])).values()];
}

/** Fields that are tried, one after the other: each may read a long manifest once more. */
const maxTried = 100;

/** The first field that was changed outside and that `--adopt` can write; false if there is none. */
export function firstAdoptable(
  { resources }: Pick<DriftReport, "resources">,
  layers: readonly Layer[],
  manifest: Pick<Manifest, "desired">,
): NonNullable<DriftReport["adoptable"]> {
  const fields = resources.flatMap((resource) => {
    const parts = parseAddress(resource.address);
    const isLost = resource.class !== "outside" || resource.what === "failed" || resource.what === "deleted";
    const shown = resource.fields.filter((field) => isTakenAlong(field) && field.seen !== undefined);
    return isLost || parts === undefined ? [] : shown.map((field) => adopted(field, resource, parts));
  });
  const found = fields
    .slice(0, maxTried)
    .find((field) => !isAdoptRefusal(editOf(layers, field, manifest, kinds)));
  return found !== undefined && { address: found.address, path: found.path };
}

/** True for a field that an address alone stands for. */
function isTakenAlong(field: FieldDrift): boolean {
  return field.class === "outside" && !field.secret && field.fixed !== true;
}

/** The lines that name what `--adopt ADDRESS` leaves out: fields that were set by hand and are fixed at creation. */
export function leftOutText(targets: readonly string[], { resources }: DriftReport): string {
  return resources
    .filter(({ address }) => targets.includes(address))
    .flatMap(({ address, fields }) =>
      fields
        .filter((field) => field.class === "outside" && field.fixed === true && !field.secret)
        .map((field) => escapeText(`left out of ${address}: ${whyFixed(field)}; ${wayBack(field)}`, 1000)),
    )
    .map((line) => `${line}\n`)
    .join("");
}

/** True if a second look finds an adopted field as declared. A probed value waits for the next apply: being declared is enough. */
export function isAsDeclared(
  { kind, path, value, isProbed }: Pick<AdoptedField, "kind" | "path" | "value" | "isProbed">,
  { class: is, declared }: Pick<FieldDrift, "class" | "declared">,
  kinds: KindRegistry,
): boolean {
  if (is === "cosmetic") return true;
  const row = rowAt(fieldRows(kinds.named(kind).schema), path);
  return isProbed && is === "ours" && declared !== undefined && sameValue(declared, value, row);
}

/** Throws if a kind has no such field, or keeps a secret in it. */
function assertField(address: Address, path: string, { schema }: Kind): void {
  const rows = fieldRows(schema);
  const isInMap = rows.get(path.split(".", 1)[0] ?? "")?.type === "object" && path.includes(".");
  if (rows.get(path)?.["x-secret"] === true) throw secretField(address, path);
  if (rows.has(path) || isInMap) return;
  throw new GraphformError("field-unknown", `${address} has no field ${escapeText(path, 200)}`, {
    hint: suggest(path, [...rows.keys()], "it has"),
  });
}

/** Splits a target at the dot behind its address; a key in brackets may contain dots. */
function parseTarget(
  target: string,
  declared: readonly Address[],
): { readonly address: Address; readonly parts: AddressParts; readonly path: string | undefined } {
  for (let end = target.length; end > 0; end = target.lastIndexOf(".", end - 1)) {
    const address = target.slice(0, end);
    const parts = parseAddress(address);
    if (parts === undefined) continue;
    if (!declared.includes(address)) break;
    return { address, parts, path: end === target.length ? undefined : target.slice(end + 1) };
  }
  throw new GraphformError(
    "address-unknown",
    `--adopt ${escapeText(target, 300)} names nothing that is declared`,
    { hint: suggest(target, declared, "declared") },
  );
}

function fieldsOf(resource: ResourceDrift, parts: AddressParts, path?: string): readonly AdoptedField[] {
  const { address, what, where, waysOn } = resource;
  if (what === "failed")
    throw refused(address, "it has failed, and no value of the manifest can say that", waysOn);
  if (what === "deleted") {
    const quoted = `'${address.replaceAll("'", "''")}'`;
    throw refused(
      address,
      "it was deleted outside, and no value of the manifest can say that",
      `${undeclaring(address)}${placeText(where)}; or graphform apply makes a new, empty one. \`removed: [{ address: ${quoted}, destroy: false }]\` lets go of it in the state`,
    );
  }
  if (path === undefined)
    return resource.fields.filter(isTakenAlong).map((field) => adopted(field, resource, parts));
  const field = resource.fields.find((candidate) => candidate.path === path);
  return field === undefined ? [] : [adopted(field, resource, parts)];
}

function adopted(field: FieldDrift, { address, kind }: ResourceDrift, parts: AddressParts): AdoptedField {
  const { path, seen, secret, where } = field;
  if (secret) throw secretField(address, path);
  if (field.fixed === true) throw refused(address, whyFixed(field), wayBack(field));
  if (seen === undefined)
    throw refused(
      address,
      `nothing shows a live value of ${path}`,
      `take the field out of the manifest${placeText(where)}, by hand, if that is meant`,
    );
  return { address, parts, kind, path, value: seen, isProbed: field.source === "probed" };
}

function placeText(where: SourceRange | undefined): string {
  return where === undefined ? "" : ` at ${where.file}:${where.start.line}`;
}

function whyFixed({ path }: FieldDrift): string {
  return `${path} was set by hand in the running database, and it is fixed at creation`;
}

function wayBack({ remedy, reason }: FieldDrift): string {
  if (remedy === undefined) return reason;
  return remedy.effect === "in-place"
    ? "graphform apply sets it back"
    : "graphform plan shows what putting it back takes";
}

function refused(address: Address, message: string, hint: string | undefined): GraphformError {
  const way = hint === undefined ? {} : { hint };
  return new GraphformError("adopt-refused", `${address} cannot be adopted: ${message}`, way);
}

function secretField(address: Address, path: string): GraphformError {
  return refused(address, `${path} is a secret, and secrets are never written`, "change it where it is kept");
}
