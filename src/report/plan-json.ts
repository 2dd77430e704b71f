/** @module Formats a plan as JSON in the shape of Terraform's plan representation. */
import { byAddress, parseAddress } from "../model/address.ts";
import { defined, type JsonObject, mapped } from "../model/json.ts";
import {
  beforeAndAfter,
  changeExtras,
  identity,
  nested,
  outputChange,
  resourceChange,
  resourceDrift,
  stepExtras,
} from "./change-json.ts";
import { summarize } from "./plan-summary.ts";
import { hasTrue, type RedactedChange, type RedactedPlan, type RedactedValue } from "./redact.ts";
import { censusJson } from "./view/census-view.ts";
import type { KindNames } from "./words.ts";

/** A plan as Terraform's tools read it, format_version 1.2, with extensions under `x_graphform`. Print it with `jsonText`, which sorts the keys. */
export function planJson(plan: RedactedPlan, names: KindNames): JsonObject {
  const changes = [...plan.changes].sort(byAddress);
  const { restarts, replacements, seconds } = plan.forecast;
  return {
    format_version: "1.2",
    applyable:
      Object.values(plan.outputs).some((output) => output.action !== "no-op") ||
      plan.steps.some((step) => step.blocked.length === 0),
    complete: plan.complete,
    errored: false,
    timestamp: plan.timestamp,
    resource_changes: changes.map((change) => resourceChange(change, plan.steps, names)),
    resource_drift: changes.flatMap((change) => resourceDrift(change, names) ?? []),
    output_changes: mapped(plan.outputs, outputChange),
    ...planValues({ changes, outputs: plan.outputs }, names),
    x_graphform: {
      name: plan.name,
      lineage: plan.lineage,
      serial: plan.serial,
      ...(plan.service && { service: { ...plan.service } }),
      fingerprint: plan.fingerprint,
      summary: { ...summarize(plan) },
      census: censusJson(plan.census),
      forecast: { restarts, replacements, seconds },
      changes: Object.fromEntries(changes.map((change) => [change.address, changeExtras(change)])),
      steps: plan.steps.map(stepExtras),
    },
  };
}

/** `prior_state`, `planned_values`, and `configuration` unless nothing is declared (`destroy`). What a guard blocks stays as it is. */
function planValues(
  { changes, outputs }: Pick<RedactedPlan, "changes" | "outputs">,
  names: KindNames,
): JsonObject {
  const observed = Object.entries(outputs).flatMap(([name, { before, sensitive }]) =>
    before === undefined ? [] : [[name, before, sensitive] as const],
  );
  const planned = Object.entries(outputs).flatMap(([name, { action, after, unknown, sensitive }]) =>
    action === "delete" ? [] : [[name, unknown ? undefined : after, sensitive] as const],
  );
  const declared = changes.filter(({ after }) => after !== undefined);
  return {
    prior_state: {
      format_version: "1.0",
      values: {
        outputs: outputValues(observed),
        root_module: { resources: changes.flatMap((change) => observedResource(change, names)) },
      },
    },
    planned_values: {
      outputs: outputValues(planned),
      root_module: { resources: changes.flatMap((change) => plannedResource(change, names)) },
    },
    ...(declared.length === 0
      ? {}
      : { configuration: { root_module: { resources: declaredResources(declared, names) } } }),
  };
}

function outputValues(
  outputs: readonly (readonly [name: string, value: RedactedValue | undefined, sensitive: boolean])[],
): JsonObject {
  return Object.fromEntries(
    outputs.map(([name, value, isSensitive]) => {
      const sensitive = isSensitive || hasTrue(value?.sensitive ?? false);
      return [name, { sensitive, ...defined({ value: value?.json }) }];
    }),
  );
}

/** The object that was seen; none if it is gone. */
function observedResource(change: RedactedChange, names: KindNames): readonly JsonObject[] {
  if (change.before === undefined || change.gone === true || change.action === "create") return [];
  const { before, before_sensitive } = beforeAndAfter({ ...change, action: "keep" });
  return [{ ...identity(change, names), values: before, sensitive_values: before_sensitive }];
}

/** The object after the apply, without values that are known only then. */
function plannedResource(change: RedactedChange, names: KindNames): readonly JsonObject[] {
  if (change.blocked.length > 0) return observedResource(change, names);
  const { after, after_sensitive } = beforeAndAfter(change);
  if (after === null) return [];
  return [{ ...identity(change, names), values: after, sensitive_values: after_sensitive }];
}

/** One entry for each name; the resources of one `forEach` differ in their values, and share it. */
function declaredResources(changes: readonly RedactedChange[], names: KindNames): readonly JsonObject[] {
  const groups = Map.groupBy(changes, ({ kind, address }) => {
    const name = parseAddress(address)?.name;
    return name === undefined ? address : `${kind}.${name}`;
  });
  return [...groups].flatMap(([address, group]): JsonObject[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { index, provider_name: _, ...named } = identity(first, names);
    const refs = [...new Set(group.flatMap((change) => change.refs ?? []))].sort();
    const isOne = index === undefined;
    return [
      {
        ...named,
        address,
        expressions: isOne && refs.length === 0 ? constants(first) : {},
        ...(isOne ? {} : { for_each_expression: {} }),
        ...(refs.length === 0 ? {} : { depends_on: refs }),
      },
    ];
  });
}

/** The values of a resource that refers to no other one. Of others a plan does not know which values were written. */
function constants({ after }: RedactedChange): JsonObject {
  const known = nested(after, ({ json, sensitive, unknown }) =>
    json === undefined || hasTrue(sensitive) || hasTrue(unknown) ? undefined : { constant_value: json },
  );
  return known ?? {};
}
