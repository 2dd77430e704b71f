import type { SourceRange } from "../../src/model/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Change, FieldChange, Plan, Step } from "../../src/model/plan.ts";
import type { Sealed } from "../../src/model/sealed.ts";
import { flatten, type Spec } from "../../src/model/spec.ts";
import { emptyPlan } from "../support/empty-plan.ts";

/** A sealed secret; its fingerprint must never be seen. */
export function sealed(name: string): Sealed {
  return { $secret: `hmac-${name}-5b1f0c77` };
}

export function at(line: number): SourceRange {
  return { file: "graphform.yaml", start: { line, column: 3 }, end: { line, column: 9 } };
}

export function field(path: string, rest: Partial<FieldChange>): FieldChange {
  return { path, source: "described", effect: "in-place", disruption: "none", secret: false, ...rest };
}

export function change(action: Change["action"], address: string, rest: Partial<Change>): Change {
  const kind = address.split(".")[0] ?? "";
  return {
    action,
    address,
    kind,
    reason: "",
    fields: [],
    disruption: "none",
    blocked: [],
    drift: [],
    ...rest,
  };
}

export function step(operation: Step["operation"], key: string, rest: Partial<Step> = {}): Step {
  const address = key.split("#")[0] ?? key;
  const kind = key.split(".")[0] ?? "";
  return {
    key,
    operation,
    address,
    kind,
    place: {},
    checks: [],
    after: [],
    precondition: "sha256-0011",
    blocked: [],
    ...rest,
  };
}

export function plan(rest: Partial<Plan>): Plan {
  return emptyPlan({
    name: "shop-prod",
    lineage: "6f1c2a9e",
    serial: 12,
    timestamp: "2026-03-02T08:30:00.000Z",
    fingerprint: "sha256-4a1d",
    ...rest,
  });
}

/** The spec of a database as a manifest would have it. */
export function database(region: string, config: JsonObject): Spec {
  return flatten({ tier: "enterprise", component: "single-zone", cloudProvider: "aws", region, config });
}
