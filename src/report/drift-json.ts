/** @module Formats a drift report as JSON. */
import { type FieldDrift, hasDrift, type ResourceDrift } from "../model/drift.ts";
import type { GraphformError } from "../model/errors.ts";
import { defined, type JsonObject } from "../model/json.ts";
import { placeJson } from "./change-json.ts";
import { errorDiagnostics } from "./problems.ts";
import { hasTrue, type RedactedDrift, type RedactedValue } from "./redact.ts";
import { censusJson } from "./view/census-view.ts";
import { countDrift } from "./view/drift-view.ts";
import { type KindNames, typeOf } from "./words.ts";

/** Version of the document. A reader ignores keys that it does not know, and refuses another major version. */
const formatVersion = "1.0";

/** A drift report as JSON. Print it with `jsonText`, which sorts the keys. */
export function driftJson(report: RedactedDrift, names: KindNames): JsonObject {
  const { notChecked, unfinished } = report.census;
  return {
    format_version: formatVersion,
    errored: false,
    complete: report.complete,
    drifted: hasDrift(report),
    name: report.name,
    timestamp: report.timestamp,
    summary: { ...countDrift(report) },
    resources: report.resources.map((resource) => resourceJson(resource, names)),
    outputs: report.outputs.map(({ name, sensitive, applied, seen }) => ({
      ...{ name, sensitive: sensitive || [applied, seen].some(isHidden) },
      ...defined({ applied: applied?.json, seen: seen?.json }),
    })),
    ...defined({
      unmanaged: report.unmanaged?.map((object) => ({ ...object, type: typeOf(object.kind, names) })),
    }),
    census: {
      ...censusJson(report.census),
      not_checked: notChecked.map(({ address, reason, failed = false }) => ({ address, reason, failed })),
      unfinished: unfinished.map((entry) => ({ ...entry })),
    },
  };
}

/** The document of a run that could not look: it proves nothing. */
export function erroredDriftJson(error: GraphformError): JsonObject {
  return {
    format_version: formatVersion,
    errored: true,
    complete: false,
    drifted: false,
    problems: errorDiagnostics(error),
  };
}

function resourceJson(resource: ResourceDrift<RedactedValue>, names: KindNames): JsonObject {
  const { address, kind, id, what, reason, since, phase, waysOn, where } = resource;
  return {
    ...{ address, kind, type: typeOf(kind, names), class: resource.class, what, reason },
    ...defined({ id, since, phase: phase?.is, status: phase?.detail, ways_on: waysOn }),
    ...placeJson(where),
    fields: resource.fields.map(fieldJson),
    events: resource.events.map((event) => ({ ...event })),
  };
}

function fieldJson(field: FieldDrift<RedactedValue>): JsonObject {
  const { path, reason, applied, seen, declared, source, remedy, where } = field;
  const sensitive = field.secret || [applied, seen, declared].some(isHidden);
  return {
    ...{ path, class: field.class, reason, sensitive },
    ...defined({ applied: applied?.json, seen: seen?.json, declared: declared?.json, source }),
    ...defined({ effect: remedy?.effect, disruption: remedy?.disruption }),
    ...placeJson(where),
  };
}

function isHidden(value: RedactedValue | undefined): boolean {
  return value !== undefined && hasTrue(value.sensitive);
}
