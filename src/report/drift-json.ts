/** @module Formats a drift report as JSON. */
import {
  type DriftReport,
  type FieldDrift,
  hasDrift,
  type OutputDrift,
  type ResourceDrift,
} from "../model/drift.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { SourceRange } from "../model/problem.ts";
import { countDrift } from "./drift-counts.ts";
import { errorDiagnostics } from "./error-json.ts";
import { isSecretPath, type KindNames, typeOf } from "./kind-words.ts";
import { masked } from "./masked.ts";
import { partialJson } from "./partial-lists.ts";
import { probesJson } from "./probe-census.ts";
import { sensitive } from "./value-text.ts";

/** Version of the document. A reader ignores keys that it does not know, and refuses another major version. */
const formatVersion = "1.0";

/** A drift report as JSON, without secrets. Print it with `jsonText`, which sorts the keys. */
export function driftJson(report: DriftReport, names: KindNames): JsonObject {
  const { declared, checked, skipped, unmanaged, fields, notChecked, unfinished } = report.census;
  return {
    format_version: formatVersion,
    errored: false,
    complete: report.complete,
    drifted: hasDrift(report),
    name: report.name,
    timestamp: report.timestamp,
    summary: { ...countDrift(report) },
    resources: report.resources.map((resource) => resourceJson(resource, names)),
    outputs: report.outputs.map(outputJson),
    ...(report.unmanaged === undefined
      ? {}
      : {
          unmanaged: report.unmanaged.map((object) => ({ ...object, type: typeOf(object.kind, names) })),
        }),
    census: {
      ...probesJson(report.census),
      ...partialJson(report.census),
      declared,
      checked,
      skipped,
      unmanaged,
      fields: { ...fields },
      not_checked: notChecked.map(({ address, reason, failed = false }) => ({ address, reason, failed })),
      unfinished: unfinished.map((entry) => ({ ...entry })),
    },
  };
}

/** The document of a run that could not look: it proves nothing. */
export function erroredDriftJson(error: unknown): JsonObject {
  return {
    format_version: formatVersion,
    errored: true,
    complete: false,
    drifted: false,
    problems: errorDiagnostics(error),
  };
}

function resourceJson(resource: ResourceDrift, names: KindNames): JsonObject {
  const { address, kind, id, what, reason, since, phase, where } = resource;
  return {
    address,
    kind,
    type: typeOf(kind, names),
    ...(id === undefined ? {} : { id }),
    class: resource.class,
    what,
    reason,
    ...(since === undefined ? {} : { since }),
    ...(phase === undefined ? {} : { phase: phase.is, status: phase.detail }),
    ...placeJson(where),
    fields: resource.fields.map((field) => fieldJson(field, kind, names)),
    events: resource.events.map((event) => ({ ...event })),
  };
}

function fieldJson(field: FieldDrift, kind: string, names: KindNames): JsonObject {
  const { path, reason, applied, seen, declared, source, remedy, where } = field;
  const isSecret = field.secret || isSecretPath(kind, path, names);
  return {
    path,
    class: field.class,
    reason,
    sensitive: isSecret,
    ...valueJson("applied", applied, isSecret),
    ...valueJson("seen", seen, isSecret),
    ...valueJson("declared", declared, isSecret),
    ...(source === undefined ? {} : { source }),
    ...(remedy === undefined ? {} : { effect: remedy.effect, disruption: remedy.disruption }),
    ...placeJson(where),
  };
}

function outputJson({ name, sensitive: isSecret, applied, seen }: OutputDrift): JsonObject {
  return {
    name,
    sensitive: isSecret,
    ...valueJson("applied", applied, isSecret),
    ...valueJson("seen", seen, isSecret),
  };
}

/** A value under its key; nothing where it is absent or not known yet. */
function valueJson(key: string, value: Json | undefined, isSecret: boolean): JsonObject {
  if (value === undefined) return {};
  const { shown } = isSecret ? { shown: sensitive } : masked(value, () => false);
  return shown === undefined ? {} : { [key]: shown };
}

function placeJson(where: SourceRange | undefined): JsonObject {
  if (where === undefined) return {};
  const { file, start } = where;
  return { where: { file, line: start.line, column: start.column } };
}
