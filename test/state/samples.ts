import type { Plan } from "../../src/model/plan.ts";
import type { Bound, CreateRound, Intent, StateDocument } from "../../src/model/state.ts";
import { emptyState } from "../../src/state/document.ts";
import { emptyPlan } from "../support/empty-plan.ts";

/** A binding with everything in it that a binding can hold. */
export function sampleBound(id: string, over: Partial<Bound> = {}): Bound {
  return {
    kind: "instances",
    id,
    place: { tier: "pro", component: "standalone" },
    recorded: { "config.graphDBCacheSize": 25, "config.graphdbPassword": { $secret: "hmac-sha256:00" } },
    protect: true,
    onDelete: "delete",
    refs: [],
    createdAt: "2026-01-01T00:00:00.000Z",
    ...over,
  };
}

export function sampleIntent(over: Partial<Intent> = {}): Intent {
  return {
    round: "round-1",
    digest: "d1",
    startedAt: "2026-01-01T00:00:00.000Z",
    recorded: { "config.name": "orders" },
    protect: true,
    onDelete: "delete",
    refs: ["networks.core"],
    ...over,
  };
}

export const sampleRound: CreateRound = {
  kind: "instances",
  place: { tier: "pro", component: "standalone" },
  classKey: "pro/standalone/aws/us-east-1",
  before: ["instance-1"],
};

/** A state with `count` resources, ready to be written as version 1. */
export function sampleState(count = 2): StateDocument {
  const names = Array.from({ length: count }, (_, index) => `instances.db${index}`);
  return {
    ...emptyState("shop", { lineage: "lineage-1", key: "ab".repeat(32) }),
    serial: 1,
    savedAt: "2026-01-01T00:00:00.000Z",
    resources: Object.fromEntries(names.map((address, index) => [address, sampleBound(`instance-${index}`)])),
    intents: { "instances.next": sampleIntent() },
    rounds: { "round-1": sampleRound },
    appliedPlans: ["fingerprint-1"],
    outputs: { endpoint: { value: "db.example.com:6379", sensitive: false } },
  };
}

export function samplePlan(over: Partial<Plan> = {}): Plan {
  return emptyPlan({ name: "shop", lineage: "lineage-1", serial: 3, fingerprint: "fingerprint-2", ...over });
}
