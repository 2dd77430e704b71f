import type { Change, Plan } from "../../../src/model/plan.ts";
import { pageAssets } from "../../../src/project/package-files.ts";
import type { PageAssets } from "../../../src/report/html/page.ts";
import { at, change, database, field, plan, sealed } from "../plan-parts.ts";
import { type PageOptions, planHtml } from "../rendered.ts";
import { samplePlan } from "../sample-plan.ts";
import { words } from "../words.ts";

/** The page of a plan, as the commands write it. */
export function pageOf(given: Plan, options: Partial<PageOptions> = {}): string {
  return planHtml(given, words, { assets, ...options });
}

export const assets: PageAssets = pageAssets();

/** The bad day with references and with the chain that takes longest. */
export const connectedPlan: Plan = {
  ...samplePlan,
  changes: samplePlan.changes.map((entry): Change => {
    if (entry.address === "users.reader") return { ...entry, refs: ["instances.orders"] };
    const refers = entry.kind === "instances" && entry.action !== "forget";
    return refers ? { ...entry, refs: ["networks.core"] } : entry;
  }),
  forecast: {
    ...samplePlan.forecast,
    path: [
      { address: "instances.sessions", operation: "update", seconds: 130, start: 0 },
      { address: 'instances.cache["eu-west-1"]', operation: "create", seconds: 600, start: 130 },
    ],
  },
};

/** Five hundred changes of which no two are equal, and sixty equal ones. */
export const largePlan: Plan = plan({
  changes: [
    ...Array.from({ length: 500 }, (_, n) => differing(n)),
    ...Array.from({ length: 60 }, (_, n) =>
      change("update", `instances.cache["${n}"]`, {
        reason: "1 field differs",
        where: at(900),
        fields: [field("config.graphDBCacheSize", { before: 25, after: 50 })],
      }),
    ),
  ],
});

function differing(n: number): Change {
  if (n % 5 === 0) {
    const after = database("us-east-1", {
      name: `other ${n * 7}`,
      maxMemory: `${n}GB`,
      graphdbPassword: sealed(`${n}`),
    });
    return change("create", `instances.new-${n}`, { reason: "does not exist yet", where: at(n + 1), after });
  }
  return change("update", `instances.db-${n}`, {
    id: `instance-${n}`,
    reason: "1 field differs",
    disruption: "restart",
    where: at(n + 1),
    fields: [field("config.maxMemory", { before: `${n}GB`, after: `${n + 1}GB`, disruption: "restart" })],
  });
}

const hostile = `"><script>window.broken = 1</script><img src=x onerror="window.broken = 1">' </script><!-- \u202e\u0000\u2028\u{e0041} javascript:alert(1)`;

/** Every text that a manifest or a service may choose, as hostile as it gets. */
export const hostilePlan: Plan = plan({
  name: hostile,
  timestamp: hostile,
  fingerprint: hostile,
  changes: [
    change("update", `instances.a["${hostile}"]`, {
      id: hostile,
      previousAddress: `instances.b["${hostile}"]`,
      reason: hostile,
      forcedBy: hostile,
      disruption: "restart",
      where: { file: hostile, start: { line: 3, column: 1 }, end: { line: 3, column: 2 } },
      refs: [`networks.n["${hostile}"]`],
      phase: { is: "failed", detail: `x${hostile}` },
      fields: [field(hostile, { before: hostile, after: [hostile], effect: "replace" })],
      drift: [field(`${hostile}.y`, { before: hostile, after: hostile })],
      blocked: [{ code: hostile, message: hostile, lift: hostile }],
    }),
    change("adopt", "instances.c", { kind: hostile, reason: hostile, after: { [hostile]: hostile } }),
    change("create", "instances.d", { reason: hostile, after: { [hostile]: { [hostile]: hostile } } }),
    change("keep", `networks.n["${hostile}"]`, { phase: { is: "pending", detail: hostile } }),
  ],
  outputs: {
    [hostile]: { action: "create", after: hostile, unknown: false, sensitive: false },
    other: { action: "no-op", unknown: false, sensitive: false, missing: hostile },
  },
  forecast: {
    restarts: 0,
    replacements: 0,
    seconds: 1,
    path: [{ address: hostile, operation: "operate", verb: hostile, seconds: 1, start: 0 }],
  },
});
