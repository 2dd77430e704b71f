import type { Json, JsonObject } from "../../src/model/json.ts";

/** What tests read of `plan --json`: the shape that others' tools know, and ours beside it. */
export interface PlanDocument {
  readonly format_version: string;
  readonly applyable: boolean;
  readonly complete: boolean;
  readonly errored: boolean;
  readonly timestamp: string;
  readonly resource_changes: readonly ResourceChange[];
  readonly resource_drift: readonly ResourceChange[];
  readonly output_changes: JsonObject;
  readonly x_graphform: {
    readonly changes: {
      readonly [address: string]: {
        readonly action: string;
        readonly disruption: string;
        readonly forced_by?: string;
        readonly fields: { readonly [path: string]: { readonly effect: string; readonly source?: string } };
        readonly blocked: readonly { readonly code: string }[];
      };
    };
    readonly steps: readonly { readonly key: string; readonly operation: string }[];
    readonly census: JsonObject;
    readonly forecast: JsonObject;
    readonly fingerprint: string;
  };
}

/** One entry of `resource_changes`. */
export interface ResourceChange {
  readonly address: string;
  readonly mode: string;
  readonly type: string;
  readonly name: string;
  readonly index?: string;
  readonly provider_name: string;
  readonly change: {
    readonly actions: readonly string[];
    readonly before: Json;
    readonly after: Json;
    readonly after_unknown: Json;
    readonly before_sensitive: Json;
    readonly after_sensitive: Json;
    readonly replace_paths?: readonly (readonly string[])[];
  };
}

/** Reads a plan that was printed. */
export function readPlan(text: string): PlanDocument {
  return JSON.parse(text);
}

/** Addresses of a plan whose action is not a no-op, with their actions. */
export function actionsIn(plan: PlanDocument): { readonly [address: string]: readonly string[] } {
  const moving = plan.resource_changes.filter(({ change }) => change.actions[0] !== "no-op");
  return Object.fromEntries(moving.map(({ address, change }) => [address, change.actions]));
}
