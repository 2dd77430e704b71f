/** @module Turns one change into the steps that carry it out. */
import { twinIn } from "../model/address.ts";
import { fieldRows, powerOf, type Rows, rowAt, verbsBetween } from "../model/field-schema.ts";
import { defined, type Json } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import type { Observed } from "../model/observed.ts";
import type { Change, Step } from "../model/plan.ts";
import { fieldsOf, type Spec } from "../model/spec.ts";
import { notesOn } from "../model/values.ts";
import { guardsToRemember } from "./guards/protection.ts";
import { isBeingDeleted } from "./propose.ts";
import { hookSteps, migrationSteps } from "./replacement.ts";
import { isStopped, type PlanInput, type Subject } from "./subjects.ts";

/** The steps of one change, in their order; `order` joins addresses. Guards do not hold back steps that only update the state or wait. */
export function stepsOf(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  const kind = input.kinds.named(change.kind);
  const steps = [
    ...moveSteps(change, subject, input),
    ...refreshed(change, subject, input),
    ...waits(change, subject, input),
    ...work(change, subject, kind, input).map((step) => ({ ...step, blocked: change.blocked })),
  ];
  return steps.map((step, at) => {
    const previous = steps[at - 1];
    return previous === undefined ? step : { ...step, after: [previous.key] };
  });
}

function work(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  const moving = (checked: Change): Step => existing(change.address, "migrate", checked, subject, input);
  switch (change.action) {
    case "create":
      return creation(change, subject, kind, input);
    case "update":
      return [...changing(change, subject, kind, input), ...hookSteps(moving(change), subject, input)];
    case "adopt":
      return [bindStep(change, subject, input), ...changing(change, subject, kind, input)];
    case "migrate":
      return migrationSteps(
        moving({ ...change, fields: checkedFields(change, kind) }),
        change,
        subject,
        input,
      );
    case "replace":
      return replacing(change, subject, kind, input);
    case "delete":
      return deletion(change.address, change, subject, input);
    case "forget":
      return [
        { ...existing(change.address, "forget", change, subject, input), ...(change.gone && { gone: true }) },
      ];
    case "move":
    case "keep":
      return [];
  }
}

/** The step that gives the state's entry its new address, also while the object is being deleted. */
function moveSteps(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  // A twin goes along with its address.
  if (subject.previousAddress === undefined || twinIn(subject.address) !== undefined) return [];
  const step = existing(`${change.address}#move`, "move", change, subject, input);
  return [{ ...step, from: subject.previousAddress }];
}

/** The step that updates guards, references and moved names in the state, or the guards of a blocked open create. */
function refreshed(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  const { address, bound, intent, observed } = subject;
  const guards = guardsToRemember(change, subject, input);
  if (guards === undefined) return [];
  if (bound === undefined && intent !== undefined && change.blocked.length > 0)
    return intent.protect === guards.protect ? [] : [bindStep(change, subject, input)];
  // An object whose address gets a new one is bound to another address, or gone.
  if (bound === undefined || observed === undefined || change.action === "create") return [];
  if (isBeingDeleted(subject)) return [];
  const known = input.state.resources[subject.previousAddress ?? address]?.recorded ?? {};
  const renamed = Object.entries(bound.recorded).filter(([path, value]) => known[path] !== value);
  const same =
    bound.protect === guards.protect &&
    bound.onDelete === guards.onDelete &&
    bound.refs.join(" ") === guards.refs.join(" ") &&
    bound.converging?.operation !== "delete";
  if (same && renamed.length === 0) return [];
  return [{ ...bindStep(change, subject, input), record: Object.fromEntries(renamed) }];
}

/** The step that waits for an operation of an earlier run, or of others, unless the change is an update without start or stop: that waits itself. */
function waits(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  const { bound, observed } = subject;
  const stays = ["keep", "move", "update", "migrate"].includes(change.action);
  if (!stays || bound === undefined) return [];
  const failed = change.action === "update" && observed?.phase.is === "failed";
  const ours = bound.converging !== undefined && bound.converging.operation !== "delete" && !failed;
  const rows = fieldRows(input.kinds.named(change.kind).schema);
  const verbless = change.fields.every((field) => rowAt(rows, field.path)["x-operations"] === undefined);
  const isInProgress = observed?.phase.is === "pending" || observed?.phase.is === "waiting-for-person";
  const theirs = isInProgress && !(change.action === "update" && verbless);
  return ours || theirs ? [existing(`${change.address}#wait`, "wait", change, subject, input)] : [];
}

/** An object that is not bound yet is bound first: the state knows what is deleted. A start or stop does not make the deletion stale. */
function replacing(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  const adopting = subject.bound === undefined ? [bindStep(change, subject, input)] : [];
  const removing = { ...change, fields: checkedFields(change, kind) };
  const removal = deletion(`${change.address}#delete`, removing, subject, input);
  return [...adopting, ...removal, ...creation(change, subject, kind, input)];
}

/** The fields that a replacement or a migration checks, in-place ones too: all but probed ones and those that operations change. */
function checkedFields({ fields }: Change, { schema }: Kind): Change["fields"] {
  const rows = fieldRows(schema);
  return fields.filter(
    ({ path, source }) => source !== "probed" && rowAt(rows, path)["x-operations"] === undefined,
  );
}

/** The steps of a deletion, with the backup before it if the lifecycle asks for one: a stopped object is started for that. */
function deletion(key: string, change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  const step = existing(key, "delete", change, subject, input);
  const known = input.remembered[subject.previousAddress ?? subject.address];
  const removal: Step =
    known === undefined || known.id !== step.id
      ? step
      : { ...step, remembered: { protect: known.protect, onDelete: known.onDelete } };
  if (change.backupFirst !== true) return [removal];
  const { spec: _, ...bare } = removal;
  const power = isStopped(subject, input) ? powerOf(input.kinds.named(change.kind).schema) : undefined;
  return [
    ...optional(power?.["stopped>running"]).map(
      (verb): Step => ({ ...bare, key: `${change.address}#${verb}`, operation: "operate", verb }),
    ),
    { ...removal, key: `${change.address}#backup`, operation: "backup" },
    removal,
  ];
}

function creation(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  const rows = fieldRows(kind.schema);
  const wanted = fieldsOf(change.after ?? {});
  const isLater = (path: string): boolean => rowAt(rows, path)["x-after-create"] === true;
  const spec = Object.fromEntries(wanted.filter(([path]) => !isLater(path)));
  const later = wanted.filter(([path]) => isLater(path));
  const create: Step = {
    ...shared(change, subject, input, undefined, []),
    key: change.address,
    operation: "create",
    place: kind.place(spec),
    spec,
    record: kind.serverDefaults(spec),
    protect: subject.desired?.lifecycle.protect ?? kind.protectedByDefault(spec),
    onDelete: subject.desired?.lifecycle.onDelete ?? "delete",
    ...defined({
      timeout: subject.desired?.timeouts.create,
      id: change.action === "create" ? subject.bound?.id : undefined,
    }),
  };
  const { id: _gone, record: _set, protect: _guarded, onDelete: _rule, ...rest } = create;
  const key = `${change.address}#settings`;
  const settings: Step = { ...rest, key, operation: "update", patch: Object.fromEntries(later) };
  const verbs = verbsFromDefault(spec, rows).map(
    (verb): Step => ({ ...rest, key: `${change.address}#${verb}`, operation: "operate", verb }),
  );
  return [create, ...(later.length === 0 ? [] : [settings]), ...verbs];
}

function bindStep(change: Change, subject: Subject, input: PlanInput): Step {
  const step = existing(`${change.address}#bind`, "bind", change, subject, input);
  return { ...step, ...guardsToRemember(change, subject, input) };
}

/** The update and lifecycle operations of a change, in the order that the service allows: a stopped resource is started first. */
function changing(change: Change, subject: Subject, kind: Kind, input: PlanInput): readonly Step[] {
  const rows = fieldRows(kind.schema);
  const fields = change.fields.filter((field) => field.effect === "in-place");
  const patch = patchOf(change, rows);
  const power = powerOf(kind.schema);
  const rests = isStopped(subject, input);
  const isMetadata = fields.every(({ path }) => rowAt(rows, path)["x-in"] === "metadata");
  const mustStart = input.profile.updateNeeds === "ready" && rests && patch !== undefined && !isMetadata;
  const verbs = fields.flatMap((field) =>
    verbsBetween(rowAt(rows, field.path), String(field.before), String(field.after)),
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
    ...(isInProgress ? verbsFromDefault(change.after ?? {}, rows) : []),
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

function patchOf(change: Change, rows: Rows): Spec | undefined {
  const pairs = change.fields
    .filter(
      ({ path, effect, via }) =>
        effect === "in-place" && via === undefined && rowAt(rows, path)["x-operations"] === undefined,
    )
    .map((field): [string, Json] => [field.path, field.after ?? null]);
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

/** Lifecycle operations that lead from the default of a new object to its declared values. */
function verbsFromDefault(spec: Spec, rows: Rows): readonly string[] {
  return [...rows].flatMap(([path, row]) =>
    optional(row["x-operations"]?.[`${String(row.default)}>${String(spec[path])}`]),
  );
}

function optional(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}

/** A step on the object of an address, with the values of it that the change was decided from. */
function existing(
  key: string,
  operation: Step["operation"],
  change: Change,
  subject: Subject,
  input: PlanInput,
): Step {
  const checks = change.fields.map((field) => field.path);
  const id = subject.observed?.id ?? subject.bound?.id;
  const { timeouts = {} } = subject.desired ?? {};
  return {
    ...shared(change, subject, input, subject.observed, checks),
    key,
    operation,
    place: subject.observed?.place ?? subject.bound?.place ?? {},
    ...defined({ id, spec: change.after, timeout: timeouts[operation === "delete" ? "delete" : "update"] }),
  };
}

/** The fields that all steps of a change share. `checks` are the paths of `observed` that the decision used. */
function shared(
  change: Change,
  subject: Subject,
  input: PlanInput,
  observed: Observed | undefined,
  checks: readonly string[],
): Omit<Step, "key" | "operation"> {
  const seen = { kind: change.kind, place: observed?.place ?? {}, checks };
  return {
    address: change.address,
    kind: change.kind,
    place: {},
    blocked: [],
    after: [],
    ...notesOn(observed, seen, input),
    ...defined({ refs: subject.desired?.refs }),
  };
}
