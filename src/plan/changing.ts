/** @module Makes the steps of a change in place, with the starts and stops around it. */

import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import type { Change, Step } from "../model/plan.ts";
import type { Spec } from "../model/spec.ts";
import type { Traits } from "../model/traits.ts";
import { traitAt, traitsOf, verbsBetween } from "../model/traits.ts";
import type { PlanInput } from "./input.ts";
import { existing } from "./step.ts";
import type { Subject } from "./subject.ts";

/** The update and lifecycle operations of a change, in the order that the service allows: a stopped resource is started first. */
export function changing(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  const traits = traitsOf(kind.schema);
  const fields = change.fields.filter((field) => field.effect === "in-place");
  const patch = patchOf(change, traits);
  const power = [...traits.values()].map((trait) => trait.operations).find(isObject);
  const rests = isStopped(subject, power?.["running>stopped"]);
  const isAside = fields.every(({ path }) => traitAt(traits, path).aside);
  const mustStart = input.profile.updateNeeds === "ready" && rests && patch !== undefined && !isAside;
  const verbs = fields.flatMap((field) =>
    verbsBetween(traitAt(traits, field.path), String(field.before), String(field.after)),
  );
  const starts = verbs.filter((entry) => entry.from === "stopped").map((entry) => entry.verb);
  const others = verbs.filter(
    (entry) => entry.from === "running" || (entry.from === "failed" && patch === undefined),
  );
  const around = mustStart && starts.length === 0 ? power : undefined;
  // A resource in progress may have been started for this change by a run that was killed.
  const isInProgress =
    subject.observed?.phase.is === "pending" && !rests && patch !== undefined && verbs.length === 0;
  const first = [...starts, ...optional(around?.["stopped>running"])];
  const last = [
    ...others.map((entry) => entry.verb),
    ...optional(around?.["running>stopped"]),
    ...(isInProgress ? verbsFromDefault(change.after ?? {}, traits) : []),
  ];
  const ofService = { ...change, fields: change.fields.filter(({ via }) => via === undefined) };
  const operate = (verb: string): Step => ({
    ...existing(`${change.address}#${verb}`, "operate", ofService, subject, input),
    verb,
  });
  const update: readonly Step[] =
    patch === undefined ? [] : [{ ...existing(change.address, "update", ofService, subject, input), patch }];
  return [...first.map(operate), ...update, ...healing(change, subject, input), ...last.map(operate)];
}

/** The step that sets fields in the running object itself, after everything that may restart it. */
function healing(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  const fields = change.fields.filter(({ via }) => via === "database");
  if (fields.length === 0) return [];
  const patch = Object.fromEntries(fields.map((field): [string, Json] => [field.path, field.after ?? null]));
  return [{ ...existing(`${change.address}#heal`, "heal", { ...change, fields }, subject, input), patch }];
}

/** True where the resource is stopped, or stopping by an operation of ours. */
function isStopped({ observed, bound }: Subject, verb: string | undefined): boolean {
  if (observed?.phase.is !== "pending") return observed?.phase.is === "stopped";
  return verb !== undefined && bound?.converging?.operation === verb;
}

function patchOf(change: Change, traits: Traits): Spec | undefined {
  const pairs = change.fields
    .filter(
      ({ path, effect, via }) =>
        effect === "in-place" && via === undefined && traitAt(traits, path).operations === undefined,
    )
    .map((field): [string, Json] => [field.path, field.after ?? null]);
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

/** Lifecycle operations that lead from the default of a new object to its declared values. */
export function verbsFromDefault(spec: Spec, traits: Traits): readonly string[] {
  return [...traits.values()].flatMap((trait) =>
    optional(trait.operations?.[`${String(trait.default)}>${String(spec[trait.path])}`]),
  );
}

function optional(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}
