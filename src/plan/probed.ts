/** @module Lays what running objects show over what the service shows, and plans the repair of what was changed in them by hand. */

import { sameValue } from "../model/compare.ts";
import { shellWord } from "../model/errors.ts";
import {
  type FieldSchema,
  isSettable,
  limitOf,
  partnersOf,
  type Rows,
  rowAt,
} from "../model/field-schema.ts";
import { defined, type Json, own } from "../model/json.ts";
import type { Observed, Seen } from "../model/observed.ts";
import type { FieldChange } from "../model/plan.ts";
import { fieldsOf, type Spec } from "../model/spec.ts";
import type { Bound } from "../model/state.ts";
import { covers } from "./diff.ts";

type SeenSpec = Observed["spec"];

/**
 * Shows probed values in place of configured ones, but only of fields whose configured value is the declared one: if the manifest has
 * changed, the change is planned from what is configured. A refused login counts only if the declared password was applied before.
 */
export function withProbed(observed: Observed, wanted: Spec, rows: Rows): Observed {
  const shown = Object.entries(observed.probed?.values ?? {});
  if (shown.length === 0 || observed.phase.is !== "ready") return observed;
  const spec = { ...observed.spec };
  for (const [path, value] of shown) {
    const want = own(wanted, path);
    const configured = own(observed.spec, path);
    if (want === undefined) continue;
    if (configured === undefined ? value === null : !sameValue(configured.value, want, rowAt(rows, path)))
      continue;
    spec[path] = { value, source: "probed", ...defined({ configured }) };
  }
  return { ...observed, spec };
}

/**
 * The observed values that the diff compares. A probed value stays if an update would set it, or if the database reads it only at its start;
 * otherwise the configured one takes its place. So a probed value never replaces an object, and an update that had no effect is not sent again.
 */
export function plannedFrom(
  spec: SeenSpec,
  rows: Rows,
  bound: Pick<Bound, "ineffective"> | undefined,
): SeenSpec {
  if (Object.values(spec).every(({ source }) => source !== "probed")) return spec;
  const entries = Object.entries(spec).flatMap(([path, seen]): [string, Seen][] => {
    const row = rowAt(rows, path);
    const isSent = !row["x-create-only"] && bound?.ineffective?.includes(path) !== true;
    if (seen.source !== "probed" || isSent) return [[path, seen]];
    if (seen.configured !== undefined) return [[path, seen.configured]];
    // Read when it starts, it shows what it was made with; set while it runs, it may have been set by hand.
    return isSettable(row) ? [] : [[path, seen]];
  });
  return Object.fromEntries(entries);
}

/** The fields that were set by hand in the running object and can be set back there. */
export function heals(
  wanted: Spec,
  { spec, probed }: Pick<Observed, "spec" | "probed">,
  rows: Rows,
  ignored: readonly string[],
): readonly FieldChange[] {
  const found = fieldsOf(wanted).flatMap(([path, after]): FieldChange[] => {
    const [seen, row] = [own(spec, path), rowAt(rows, path)];
    if (seen?.source !== "probed" || !isHealed(row) || sameValue(seen.value, after, row)) return [];
    if (ignored.some((entry) => covers(entry, path))) return [];
    const secret = row["x-secret"] === true;
    const shared = { path, before: seen.value, after, source: seen.source, secret };
    return [{ ...shared, effect: "in-place", disruption: "none", via: "database" }];
  });
  return found.filter(({ path, after = null }) => forbidding(path, after, probed, rows, found) === undefined);
}

/** The field, not set back itself, whose live value forbids to set another one in the running object. */
function forbidding(
  path: string,
  wanted: Json,
  probed: Observed["probed"],
  rows: Rows,
  healed: readonly FieldChange[],
): { readonly path: string; readonly value: Json } | undefined {
  const isHealing = new Set(healed.map((field) => field.path));
  return partnersOf(path, rows)
    .filter((partner) => !isHealing.has(partner))
    .map((partner) => ({ path: partner, value: own(probed?.values ?? {}, partner) ?? 0 }))
    .find((partner) => {
      const isLimit = limitOf(rowAt(rows, path)) === partner.path;
      const [value, limit] = isLimit ? [wanted, partner.value] : [partner.value, wanted];
      return Number(limit) !== 0 && Number(value) > Number(limit);
    });
}

/** True for a field that no update changes and that can be set in the running object. */
function isHealed(row: FieldSchema): boolean {
  return row["x-create-only"] === true && isSettable(row);
}

/** The way to undo a difference that a probe has found and that apply leaves as it is. */
export function remedyForDrift(
  path: string,
  { noun, rows }: { readonly noun: string; readonly rows: Rows },
  { address, probed }: Pick<Observed, "address" | "probed">,
  { live, wanted }: { readonly live: Json; readonly wanted: Json },
): string {
  const row = rowAt(rows, path);
  const partner = isHealed(row) ? forbidding(path, wanted, probed, rows, []) : undefined;
  const restart = `graphform ${noun} restart ${shellWord(address)} loads what is configured`;
  if (partner !== undefined)
    return `${partner.path} is ${String(partner.value)} in the database and does not allow it: ${restart}`;
  if (row["x-create-only"]) return restart;
  const what = live === null ? "refuses it" : "shows another value";
  return `${path} was applied and the database ${what}: change the declared value, or ask those who run the service`;
}
