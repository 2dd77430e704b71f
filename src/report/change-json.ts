/** @module Formats the changes, drift, outputs and steps of a plan as JSON. */
import { parseAddress } from "../model/address.ts";
import type { SourceRange } from "../model/errors.ts";
import { defined, type Json, type JsonObject } from "../model/json.ts";
import type { Change, OutputChange, Step } from "../model/plan.ts";
import { nest } from "../model/spec.ts";
import {
  hasTrue,
  type RedactedChange,
  type RedactedPlan,
  type RedactedSpec,
  type RedactedValue,
} from "./redact.ts";
import { type KindNames, typeOf } from "./words.ts";

/** One entry of `resource_changes` (Terraform's plan representation, format 1.2). */
export function resourceChange(
  change: RedactedChange,
  steps: RedactedPlan["steps"],
  names: KindNames,
): JsonObject {
  return {
    ...identity(change, names),
    ...defined({ previous_address: change.previousAddress, action_reason: actionReason(change).plan }),
    change: {
      actions: actionsOf(change, steps),
      ...beforeAndAfter(change),
      replace_paths: change.fields.flatMap(({ effect, path }) =>
        effect === "replace" ? [path.split(".")] : [],
      ),
      ...(change.action === "adopt" ? { importing: { id: change.id ?? "" } } : {}),
    },
  };
}

/** One entry of `resource_drift`: changes made outside since the last apply; undefined if there are none. */
export function resourceDrift(change: RedactedChange, names: KindNames): JsonObject | undefined {
  if (change.gone === true || (change.action === "create" && change.id !== undefined)) {
    const sides = beforeAndAfter({ ...change, action: "delete" });
    return { ...identity(change, names), change: { actions: ["delete"], ...sides } };
  }
  if (change.drift.length === 0) return undefined;
  const seen = change.before ?? {};
  const recorded = change.drift.reduce((spec, { path, before }) => withValue(spec, path, before), seen);
  const drifted: RedactedChange = { ...change, action: "replace", before: recorded, after: seen };
  return { ...identity(change, names), change: { actions: ["update"], ...beforeAndAfter(drifted) } };
}

/** One entry of `output_changes`. */
export function outputChange(change: OutputChange<RedactedValue>): JsonObject {
  const { action, before, after, unknown, sensitive } = change;
  return {
    actions: [action],
    before: before?.json ?? null,
    ...(unknown ? {} : { after: after?.json ?? null }),
    after_unknown: unknown,
    before_sensitive: before !== undefined && hasTrue(before.sensitive),
    after_sensitive: action !== "delete" && (sensitive || hasTrue(after?.sensitive ?? false)),
  };
}

/** The entry of one change under `x_graphform`: reason, disruption, guards, and the source of each value. */
export function changeExtras(change: RedactedChange): JsonObject {
  const fields = change.fields.map(
    ({ path, effect, disruption, secret, source, via }) =>
      [path, { effect, disruption, secret, ...defined({ source, via }) }] as const,
  );
  const drift = change.drift.map(
    ({ path, secret, shownBy, wayOut }) =>
      [path, { secret, ...defined({ source: shownBy, way_out: wayOut }) }] as const,
  );
  const { action, reason, disruption, id, forcedBy, where, phase, waysOn, mayBe } = change;
  return {
    ...{ action, reason, disruption, blocked: change.blocked.map((guard) => ({ ...guard })) },
    fields: Object.fromEntries(fields),
    ...(drift.length === 0 ? {} : { drift: Object.fromEntries(drift) }),
    ...(change.gone === true ? { gone: true } : {}),
    ...(change.backupFirst === true ? { backup_first: true } : {}),
    ...defined({ id, forced_by: forcedBy, ways_on: waysOn, may_be: mayBe && { ...mayBe } }),
    ...defined({ phase: phase && { is: phase.is, detail: phase.detail } }),
    ...placeJson(where),
  };
}

/** The place in the manifest, if there is one. */
export function placeJson(where: SourceRange | undefined): JsonObject {
  if (where === undefined) return {};
  const { file, start } = where;
  return { where: { file, line: start.line, column: start.column } };
}

/** The entry of one step under `x_graphform`, without its spec: that is only in the plan file. */
export function stepExtras(step: Step<unknown>): JsonObject {
  const { key, address, operation, verb, after, precondition, blocked } = step;
  return {
    ...{ key, address, operation, after, precondition, blocked: blocked.map((guard) => ({ ...guard })) },
    ...(operation === "heal" ? { via: "database" } : {}),
    ...defined({ verb }),
  };
}

/** The names of a resource: address, type, name and key of `forEach`. */
export function identity({ address, kind }: Change<unknown>, names: KindNames): JsonObject {
  const { name = address, key } = parseAddress(address) ?? {};
  return {
    ...{ address, mode: "managed", type: typeOf(kind, names), name, provider_name: "graphform" },
    ...defined({ index: key }),
  };
}

/** The actions of a change by the words of Terraform. */
export function actionsOf(change: Change<unknown>, steps: readonly Step<unknown>[]): readonly string[] {
  switch (change.action) {
    case "replace":
      return createsFirst(change, steps) ? ["create", "delete"] : ["delete", "create"];
    case "adopt":
      return [change.fields.length > 0 ? "update" : "no-op"];
    case "move":
    case "keep":
      return ["no-op"];
    case "migrate":
      // Its new object is another entry, which is created; the old one is deleted by a later plan.
      return ["update"];
    case "create":
    case "update":
    case "delete":
    case "forget":
      return [change.action];
  }
}

/** The order of a replacement is that of its steps. */
function createsFirst({ address }: Change<unknown>, steps: readonly Step<unknown>[]): boolean {
  const [create, remove] = ["create", "delete"].map((operation) =>
    steps.find((step) => step.address === address && step.operation === operation),
  );
  return create !== undefined && remove?.after.includes(create.key) === true;
}

/** The reason of a deletion or a replacement, and the one that the stream of events gives, as Terraform names them. */
export function actionReason({
  action,
  forcedBy,
}: Change<unknown>): Partial<Record<"plan" | "event", string>> {
  const removed = "delete_because_no_resource_config";
  if (action === "delete") return { plan: removed, event: removed };
  if (action !== "replace" && action !== "migrate") return {};
  return forcedBy === undefined
    ? { plan: "replace_by_request", event: "requested" }
    : { plan: "replace_because_cannot_update", event: "cannot_update" };
}

/** Both sides of a change with their marks; a side without a value is null. */
export function beforeAndAfter(
  change: RedactedChange,
): Readonly<Record<"before" | "after" | "after_unknown" | "before_sensitive" | "after_sensitive", Json>> {
  const { before, after } = sidesOf(change);
  return {
    before: nested(before, ({ json }) => json) ?? null,
    after: nested(after, ({ json }) => json) ?? null,
    after_unknown: nested(after, ({ unknown }) => ifHasTrue(unknown)) ?? {},
    before_sensitive: nested(before, ({ sensitive }) => ifHasTrue(sensitive)) ?? false,
    after_sensitive: nested(after, ({ sensitive }) => ifHasTrue(sensitive)) ?? false,
  };
}

/** A spec as nested objects, with one part of each of its values. */
export function nested(
  spec: RedactedSpec | undefined,
  part: (value: RedactedValue) => Json | undefined,
): JsonObject | undefined {
  if (spec === undefined) return undefined;
  const parts = Object.entries(spec).flatMap(([path, value]) => {
    const json = part(value);
    return json === undefined ? [] : [[path, json] as const];
  });
  return nest(Object.fromEntries(parts));
}

function ifHasTrue(shape: Json): Json | undefined {
  return hasTrue(shape) ? shape : undefined;
}

/** Both sides of a change. A create has nothing before, even if an object was known; those of an update differ in the changed fields alone. */
function sidesOf({ action, fields, before, after }: RedactedChange): {
  readonly before?: RedactedSpec | undefined;
  readonly after?: RedactedSpec | undefined;
} {
  switch (action) {
    case "create":
      return { after };
    case "replace":
    case "migrate":
      return { before: before ?? {}, after };
    case "delete":
    case "forget":
      return { before: before ?? {} };
    case "update":
    case "adopt":
      return {
        before: before ?? {},
        after: fields.reduce(
          (spec, { path, after }) => (after === undefined ? spec : withValue(spec, path, after)),
          before ?? {},
        ),
      };
    case "move":
    case "keep":
      return { before: before ?? after, after: before ?? after };
  }
}

/** A copy of the spec with one value set, or removed if it is undefined. */
function withValue(spec: RedactedSpec, path: string, value: RedactedValue | undefined): RedactedSpec {
  const { [path]: _, ...others } = spec;
  return value === undefined ? others : { ...others, [path]: value };
}
