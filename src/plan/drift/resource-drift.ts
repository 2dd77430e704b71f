/** @module Describes what has happened to one resource since its last apply. */
import type { Desired } from "../../model/desired.ts";
import type { DriftClass, FieldDrift, Happening, ResourceDrift } from "../../model/drift.ts";
import type { Observed } from "../../model/observed.ts";
import { own } from "../../model/own.ts";
import type { Change } from "../../model/plan.ts";
import { passwordRefused } from "../../model/probe-troubles.ts";
import type { Bound } from "../../model/state.ts";
import { traitAt, traitsOf } from "../../model/traits.ts";
import { fieldDrifts } from "./field-drifts.ts";
import type { DriftInput } from "./input.ts";

/** The drift of the resource of a change; undefined where nothing differs. */
export function resourceDrift(
  change: Change,
  desired: Desired | undefined,
  input: DriftInput,
): ResourceDrift | undefined {
  const { address, kind, id, where, waysOn } = change;
  const bound = input.bound[address];
  const observed = input.observed.get(address);
  const found = verdictOf({ change, desired, bound, observed }, input);
  if (found === undefined) return undefined;
  const since = lastSeenRight(bound, found);
  return {
    address,
    kind,
    ...(id === undefined ? {} : { id }),
    ...found,
    ...(since === undefined ? {} : { since }),
    ...(observed === undefined ? {} : { phase: observed.phase }),
    ...(waysOn === undefined || found.what !== "failed" ? {} : { waysOn }),
    ...(where === undefined ? {} : { where }),
    events: [],
  };
}

/**
 * The time at which all of what was changed outside was last seen right; of an object that is gone or failed, the last time at which
 * anything of it was.
 */
function lastSeenRight(bound: Bound | undefined, { fields, what }: Found): string | undefined {
  if (bound === undefined) return undefined;
  const { seenRight = {}, appliedAt = bound.createdAt } = bound;
  const outside = fields.filter((field) => field.class === "outside");
  const isWhole = outside.length === 0 || what === "failed";
  const times = isWhole
    ? [appliedAt, ...Object.values(seenRight)].sort().reverse()
    : outside.map(({ path }) => own(seenRight, path) ?? appliedAt).sort();
  return times[0];
}

interface Known {
  readonly change: Change;
  readonly desired: Desired | undefined;
  readonly bound: Bound | undefined;
  readonly observed: Observed | undefined;
}

type Found = Pick<ResourceDrift, "class" | "what" | "reason" | "fields">;

function verdictOf({ change, desired, bound, observed }: Known, input: DriftInput): Found | undefined {
  if (bound === undefined)
    return change.action === "keep" ? undefined : whole("ours", "unapplied", change.reason);
  if (observed === undefined) return absent(change, desired, bound);
  const { schema } = input.kinds.named(change.kind);
  const fields = fieldDrifts({
    change,
    bound,
    observed,
    ...(desired === undefined ? {} : { desired }),
    schema,
    fieldRange: (path) => input.fieldRange(change.address, path),
  });
  if (observed.phase.is === "failed" && desired !== undefined)
    return { ...whole("outside", "failed", `the service says ${observed.phase.detail}`), fields };
  const outside = fields.filter((field) => field.class === "outside");
  if (outside.length > 0) {
    const traits = traitsOf(schema);
    const isPower = outside.some(({ path }) => traitAt(traits, path).operations !== undefined);
    const isName = outside.every(({ path }) => traitAt(traits, path).identity);
    const power: Happening = observed.phase.is === "stopped" ? "stopped" : "started";
    const what = isPower ? power : isName ? "renamed" : "changed";
    return { ...whole("outside", what, happened(what, outside)), fields };
  }
  if (change.action !== "keep") return { ...whole("ours", "unapplied", change.reason), fields };
  if (fields.length === 0) return undefined;
  const isOurs = fields.some((field) => field.class === "ours");
  return isOurs
    ? { ...whole("ours", "unapplied", "an apply was not seen to finish"), fields }
    : { ...whole("cosmetic", "unimportant", "differs in what does not matter"), fields };
}

/** A bound object that is not there any more. */
function absent({ reason, id }: Change, desired: Desired | undefined, bound: Bound): Found {
  if (bound.converging?.operation === "delete")
    return whole("ours", "unapplied", "its deletion by graphform was under way");
  if (desired === undefined) return whole("cosmetic", "unimportant", reason);
  return whole("outside", "deleted", `${id ?? bound.id} is gone: it was deleted outside graphform`);
}

function happened(what: Happening, outside: readonly FieldDrift[]): string {
  if (what !== "changed") return `${what} outside graphform`;
  if (outside.every(({ reason }) => reason.startsWith(passwordRefused))) return passwordRefused;
  return outside.length === 1
    ? "1 field was changed outside"
    : `${outside.length} fields were changed outside`;
}

function whole(worst: DriftClass, what: Happening, reason: string): Found {
  return { class: worst, what, reason, fields: [] };
}
