import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import type { Observed } from "../model/observed.ts";
import type { Change, Step } from "../model/plan.ts";
import { lastApplied, preconditionText } from "../model/precondition.ts";
import { fromLeaves } from "../model/spec-paths.ts";
import type { PlanInput } from "./input.ts";
import { kindNamed } from "./input.ts";
import { isBeingDeleted } from "./propose.ts";
import type { Subject } from "./subject.ts";
import type { Traits } from "./traits.ts";
import { traitAt, traitsOf, verbsBetween } from "./traits.ts";

type Shared = Pick<Step, "address" | "kind" | "place" | "blocked"> & Partial<Step>;

/**
 * The steps that carry out one change, in their order; `after` between addresses comes later. What only brings the
 * state up to date, or only waits, is not what a guard holds back.
 */
export function stepsOf(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  const kind = kindNamed(input.kinds, change.kind);
  const before = [
    ...moves(change, subject, input),
    ...refreshed(change, subject, kind, input),
    ...waits(change, subject, input),
  ];
  const steps = work(change, subject, kind, input).map((step) => ({ ...step, blocked: change.blocked }));
  return chain([...before, ...steps]);
}

function work(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  switch (change.action) {
    case "create":
      return creation(change, subject, kind, input);
    case "update":
      return changing(change, subject, kind, input);
    case "adopt":
      return [bindStep(change, subject, input), ...changing(change, subject, kind, input)];
    case "replace":
      return replacing(change, subject, kind, input);
    case "delete":
      return [existing(change.address, "delete", change, subject, input)];
    case "forget":
      return [existing(change.address, "forget", change, subject, input)];
    case "move":
    case "keep":
      return [];
  }
}

/** Moved: the state's entry gets the new address, also where what is there is on its way out. */
function moves(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  if (subject.previousAddress === undefined) return [];
  const step = existing(`${change.address}#move`, "move", change, subject, input);
  return [{ ...step, from: subject.previousAddress }];
}

/**
 * What the state remembers of a declared object beside its fields: its guards, its references, names that have moved. Of
 * what is on its way out that it is: nothing else counts.
 */
function refreshed(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  const { address, bound, desired, observed } = subject;
  if (bound === undefined || desired === undefined || observed === undefined) return [];
  if (isBeingDeleted(subject)) return [];
  const known = input.state.resources[subject.previousAddress ?? address]?.recorded ?? {};
  const renamed = Object.entries(bound.recorded).filter(([path, value]) => known[path] !== value);
  const same =
    bound.protect === (desired.lifecycle.protect ?? kind.protectedByDefault(desired.spec)) &&
    bound.onDelete === desired.lifecycle.onDelete &&
    bound.refs.join(" ") === desired.refs.join(" ") &&
    bound.converging?.operation !== "delete";
  if (same && renamed.length === 0) return [];
  return [{ ...bindStep(change, subject, input), record: Object.fromEntries(renamed) }];
}

/**
 * What an earlier run began is waited for before anything else is asked. What somebody else began is waited for where
 * its end decides: whether a verb is due.
 */
function waits(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  const { bound, observed } = subject;
  const stays = change.action === "keep" || change.action === "move" || change.action === "update";
  if (!stays || bound === undefined) return [];
  const failed = change.action === "update" && observed?.phase.is === "failed";
  const ours = bound.converging !== undefined && bound.converging.operation !== "delete" && !failed;
  const traits = traitsOf(kindNamed(input.kinds, change.kind).schema);
  const verbless = change.fields.every((field) => traitAt(traits, field.path).operations === undefined);
  const restless = observed?.phase.is === "pending" || observed?.phase.is === "waiting-for-person";
  const theirs = restless && !(change.action === "update" && verbless);
  return ours || theirs ? [existing(`${change.address}#wait`, "wait", change, subject, input)] : [];
}

/** An object that was not ours until now is bound first, so that it is known whose deletion is waited for. */
function replacing(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  const adopting = subject.bound === undefined ? [bindStep(change, subject, input)] : [];
  const removal = existing(`${change.address}#delete`, "delete", change, subject, input);
  return [...adopting, removal, ...creation(change, subject, kind, input)];
}

function creation(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  const spec = change.after ?? {};
  const create: Step = {
    ...shared(change, subject, input, undefined, []),
    key: change.address,
    operation: "create",
    place: kind.place(spec),
    spec,
    record: kind.fills(spec),
    ...timeout(subject, "create"),
    ...(change.action === "create" && subject.bound !== undefined ? { id: subject.bound.id } : {}),
  };
  const { id: _gone, record: _set, ...rest } = create;
  const verbs = verbsFromDefault(spec, traitsOf(kind.schema)).map(
    (verb): Step => ({ ...rest, key: `${change.address}#${verb}`, operation: "operate", verb }),
  );
  return [create, ...verbs];
}

/** Verbs that lead from how the service makes a thing to how it is wanted. */
function verbsFromDefault(spec: JsonObject, traits: Traits): readonly string[] {
  return [...traits.values()].flatMap((trait) =>
    optional(trait.operations?.[`${String(trait.default)}>${String(spec[trait.path])}`]),
  );
}

/** Update and verbs in the order that the service allows: what is stopped is started before it is changed. */
function changing(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  const traits = traitsOf(kind.schema);
  const fields = change.fields.filter((field) => field.effect === "in-place");
  const patch = patchOf(change, traits);
  const mustStart =
    input.profile.updateNeeds === "ready" && subject.observed?.phase.is === "stopped" && patch !== undefined;
  const verbs = fields.flatMap((field) =>
    verbsBetween(traitAt(traits, field.path), String(field.before), String(field.after)),
  );
  const starts = verbs.filter((entry) => entry.from === "stopped").map((entry) => entry.verb);
  const others = verbs.filter(
    (entry) => entry.from === "running" || (entry.from === "failed" && patch === undefined),
  );
  const around =
    mustStart && starts.length === 0
      ? [...traits.values()].map((trait) => trait.operations).find(isObject)
      : undefined;
  // What is in the middle of something may have been started for this very change by a run that was cut off.
  const isRestless = subject.observed?.phase.is === "pending" && patch !== undefined && verbs.length === 0;
  const before = [...starts, ...optional(around?.["stopped>running"])];
  const after = [
    ...others.map((entry) => entry.verb),
    ...optional(around?.["running>stopped"]),
    ...(isRestless ? verbsFromDefault(change.after ?? {}, traits) : []),
  ];
  const operate = (verb: string): Step => ({
    ...existing(`${change.address}#${verb}`, "operate", change, subject, input),
    verb,
  });
  const update: readonly Step[] =
    patch === undefined ? [] : [{ ...existing(change.address, "update", change, subject, input), patch }];
  return [...before.map(operate), ...update, ...after.map(operate)];
}

function patchOf(change: Change, traits: Traits): JsonObject | undefined {
  const pairs = change.fields
    .filter((field) => field.effect === "in-place" && traitAt(traits, field.path).operations === undefined)
    .map((field): [string, Json] => [field.path, field.after ?? null]);
  return pairs.length === 0 ? undefined : fromLeaves(pairs);
}

function bindStep(change: Change, subject: Subject, input: PlanInput): Step {
  return existing(`${change.address}#bind`, "bind", change, subject, input);
}

/** A step upon the object that is there. */
function existing(
  key: string,
  operation: Step["operation"],
  change: Change,
  subject: Subject,
  input: PlanInput,
): Step {
  const checks = change.fields.map((field) => field.path);
  const id = subject.observed?.id ?? subject.bound?.id;
  return {
    ...shared(change, subject, input, subject.observed, checks),
    key,
    operation,
    place: subject.observed?.place ?? subject.bound?.place ?? {},
    ...(id === undefined ? {} : { id }),
    ...(change.after === undefined ? {} : { spec: change.after }),
    ...timeout(subject, operation === "delete" ? "delete" : "update"),
  };
}

function shared(
  change: Change,
  subject: Subject,
  input: PlanInput,
  observed: Observed | undefined,
  checks: readonly string[],
): Shared & Pick<Step, "precondition" | "checks" | "after"> {
  const { bound, desired } = subject;
  const applied = observed === undefined ? {} : lastApplied(input.state, change.kind, observed.id);
  return {
    address: change.address,
    kind: change.kind,
    place: {},
    blocked: [],
    after: [],
    checks,
    precondition: input.digest(preconditionText(observed, checks, applied)),
    ...(desired === undefined && bound !== undefined && input.destroying ? { onDelete: bound.onDelete } : {}),
    ...(desired === undefined
      ? {}
      : {
          protect:
            desired.lifecycle.protect ??
            kindNamed(input.kinds, desired.kind).protectedByDefault(desired.spec),
          onDelete: desired.lifecycle.onDelete,
          refs: desired.refs,
        }),
  };
}

function timeout(
  subject: Subject,
  operation: "create" | "update" | "delete",
): Pick<Step, "timeout"> | object {
  const ms = subject.desired?.timeouts[operation];
  return ms === undefined ? {} : { timeout: ms };
}

function chain(steps: readonly Step[]): readonly Step[] {
  return steps.map((step, at) => {
    const before = steps[at - 1];
    return before === undefined ? step : { ...step, after: [before.key] };
  });
}

function optional(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}
