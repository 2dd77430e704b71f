import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import type { Observed } from "../model/observed.ts";
import type { Change, Step } from "../model/plan.ts";
import { preconditionText } from "../model/precondition.ts";
import { fromLeaves } from "../model/spec-paths.ts";
import type { PlanInput } from "./input.ts";
import { kindNamed } from "./input.ts";
import type { Subject } from "./propose.ts";
import type { Traits } from "./traits.ts";
import { traitAt, traitsOf } from "./traits.ts";

type Shared = Pick<Step, "address" | "kind" | "place" | "blocked"> & Partial<Step>;

/** The steps that carry out one change, in their order; `after` between addresses comes later. */
export function stepsOf(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  const kind = kindNamed(input.kinds, change.kind);
  const steps = chain([...moves(change, subject, input), ...work(change, subject, kind, input)]);
  return steps.map((step) => ({ ...step, blocked: change.blocked }));
}

function work(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  switch (change.action) {
    case "create":
      return creation(change, subject, kind, input);
    case "update":
      return changing(change, subject, kind, input);
    case "adopt":
      return [bindStep(`${change.address}#bind`, change, subject, input), ...changing(change, subject, kind, input)];
    case "replace":
      return [existing(`${change.address}#delete`, "delete", change, subject, input), ...creation(change, subject, kind, input)];
    case "delete":
      return [existing(change.address, "delete", change, subject, input)];
    case "forget":
      return [existing(change.address, "forget", change, subject, input)];
    case "move":
    case "keep":
      return resting(change, subject, kind, input);
  }
}

/** A resource that is as declared may still be converging, or its guards may have changed. */
function resting(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  const { bound, desired, observed } = subject;
  if (bound === undefined || desired === undefined) return [];
  if (bound.converging !== undefined || observed?.phase.is === "pending" || observed?.phase.is === "waiting-for-person") {
    return [existing(change.address, "wait", change, subject, input)];
  }
  const protect = desired.lifecycle.protect ?? kind.protectedByDefault(desired.spec);
  const same =
    bound.protect === protect &&
    bound.onDelete === desired.lifecycle.onDelete &&
    bound.refs.join(" ") === desired.refs.join(" ");
  return same ? [] : [bindStep(`${change.address}#bind`, change, subject, input)];
}

function moves(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  if (subject.previousAddress === undefined || change.action === "delete") return [];
  const step = existing(`${change.address}#move`, "move", change, subject, input);
  return [{ ...step, from: subject.previousAddress }];
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
  };
  const verbs = [...traitsOf(kind.schema).values()].flatMap((trait) => {
    const verb = trait.operations?.[`${String(trait.default)}>${String(spec[trait.path])}`];
    return verb === undefined ? [] : [{ ...create, key: `${change.address}#${verb}`, operation: "operate" as const, verb }];
  });
  return [create, ...verbs];
}

/** Update and verbs in the order that the service allows: what is stopped is started before it is changed. */
function changing(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  const traits = traitsOf(kind.schema);
  const fields = change.fields.filter((field) => field.effect === "in-place");
  const patch = patchOf(change, traits);
  const mustStart = input.profile.updateNeeds === "ready" && subject.observed?.phase.is === "stopped" && patch !== undefined;
  const verbs = fields.flatMap((field) => {
    const verb = traitAt(traits, field.path).operations?.[`${String(field.before)}>${String(field.after)}`];
    return verb === undefined ? [] : [{ verb, from: String(field.before) }];
  });
  const starts = verbs.filter((entry) => entry.from === "stopped").map((entry) => entry.verb);
  const others = verbs.filter((entry) => entry.from === "running" || (entry.from === "failed" && patch === undefined));
  const around = mustStart && starts.length === 0 ? [...traits.values()].map((trait) => trait.operations).find(isObject) : undefined;
  const before = [...starts, ...optional(around?.["stopped>running"])];
  const after = [...others.map((entry) => entry.verb), ...optional(around?.["running>stopped"])];
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

function bindStep(key: string, change: Change, subject: Subject, input: PlanInput): Step {
  return existing(key, "bind", change, subject, input);
}

/** A step upon the object that is there. */
function existing(key: string, operation: Step["operation"], change: Change, subject: Subject, input: PlanInput): Step {
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
  const { desired } = subject;
  return {
    address: change.address,
    kind: change.kind,
    place: {},
    blocked: [],
    after: [],
    checks,
    precondition: input.digest(preconditionText(observed, checks)),
    ...(desired === undefined
      ? {}
      : {
          protect: desired.lifecycle.protect ?? kindNamed(input.kinds, desired.kind).protectedByDefault(desired.spec),
          onDelete: desired.lifecycle.onDelete,
          refs: desired.refs,
        }),
  };
}

function timeout(subject: Subject, operation: "create" | "update" | "delete"): Pick<Step, "timeout"> | object {
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
