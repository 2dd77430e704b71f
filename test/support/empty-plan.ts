import type { Plan } from "../../src/model/plan.ts";

/** A plan without changes, with these parts of its own. */
export function emptyPlan(parts: Pick<Plan, "name" | "lineage" | "serial"> & Partial<Plan>): Plan {
  return {
    version: 1,
    timestamp: "2026-01-01T00:00:00.000Z",
    changes: [],
    steps: [],
    outputs: {},
    census: {
      declared: 0,
      checked: 0,
      skipped: 0,
      unmanaged: 0,
      fields: { probed: 0, described: 0, echoed: 0, recorded: 0 },
    },
    forecast: { restarts: 0, replacements: 0, seconds: 0 },
    complete: true,
    fingerprint: "fingerprint",
    ...parts,
  };
}
