import type { Plan } from "../../src/model/plan.ts";
import { at, change, database, field, plan, sealed, step } from "./plan-parts.ts";
import { samplePlan } from "./sample-plan.ts";

const ready = { is: "ready", detail: "RUNNING" } as const;
const orders = database("us-east-1", { name: "orders", maxMemory: "6GB" });

/** Plans made by hand, one for each thing that a report must get right; the name says which. */
export const goldenPlans: { readonly [folder: string]: Plan } = {
  "101-nothing-to-do": plan({
    changes: [
      change("keep", "instances.orders", {
        id: "instance-1",
        reason: "as declared",
        phase: ready,
        before: orders,
        after: orders,
      }),
    ],
    census: {
      declared: 1,
      checked: 1,
      skipped: 0,
      unmanaged: 0,
      fields: { probed: 0, described: 5, echoed: 0, recorded: 1 },
    },
  }),
  "102-a-bad-day": samplePlan,
  "107-many-equal": plan({
    changes: [
      ...Array.from({ length: 60 }, (_, index) =>
        change("create", `instances.shard["${String(index).padStart(2, "0")}"]`, {
          reason: "does not exist yet",
          where: at(12),
          after: database("us-east-1", { name: `shard-${String(index).padStart(2, "0")}`, maxMemory: "6GB" }),
        }),
      ),
      ...["cart", "mail", "news"].map((name, index) =>
        change("update", `instances.${name}`, {
          id: `instance-${name}`,
          reason: "1 field differs",
          disruption: "restart",
          where: at(30 + index),
          before: database("us-east-1", { name, maxMemory: "4GB" }),
          after: database("us-east-1", { name, maxMemory: "6GB" }),
          fields: [
            field("config.maxMemory", {
              before: "4GB",
              after: "6GB",
              source: "echoed",
              disruption: "restart",
            }),
          ],
        }),
      ),
      ...["old", "older"].map((name) =>
        change("delete", `instances.${name}`, {
          id: `instance-${name}`,
          reason: "no longer declared",
          disruption: "data-loss",
          before: orders,
          blocked: [{ code: "protect", message: "protected", lift: `--allow-destroy instances.${name}` }],
        }),
      ),
    ],
    forecast: { restarts: 3, replacements: 0, seconds: 31 },
  }),
  "103-replace-create-first": plan({
    changes: [
      change("replace", "networks.core", {
        id: "n-1",
        reason: "cidr cannot be changed in place",
        forcedBy: "cidr",
        disruption: "downtime",
        where: at(9),
        before: { cloudProvider: "aws", region: "us-east-1", cidr: "10.0.0.0/16" },
        after: { cloudProvider: "aws", region: "us-east-1", cidr: "10.1.0.0/16" },
        fields: [
          field("cidr", {
            before: "10.0.0.0/16",
            after: "10.1.0.0/16",
            effect: "replace",
            disruption: "data-loss",
          }),
        ],
      }),
    ],
    steps: [
      step("create", "networks.core"),
      step("delete", "networks.core#delete", { after: ["networks.core"] }),
    ],
    census: {
      declared: 1,
      checked: 1,
      skipped: 0,
      unmanaged: 0,
      fields: { probed: 0, described: 3, echoed: 0, recorded: 0 },
    },
    forecast: { restarts: 0, replacements: 1, seconds: 40 },
  }),
  "104-adopt-move-incomplete": plan({
    changes: [
      change("adopt", "instances.orders", {
        id: "instance-1",
        reason: "existing instance-1 is bound",
        disruption: "none",
        where: at(12),
        phase: ready,
        before: orders,
        after: orders,
      }),
      change("adopt", "instances.carts", {
        id: "instance-2",
        reason: "existing instance-2 is bound",
        disruption: "restart",
        where: at(20),
        phase: ready,
        before: orders,
        after: database("us-east-1", { name: "orders", maxMemory: "8GB" }),
        fields: [
          field("config.maxMemory", { before: "6GB", after: "8GB", source: "probed", disruption: "restart" }),
        ],
      }),
      change("update", "instances.reports", {
        id: "instance-3",
        previousAddress: "instances.analytics",
        reason: "1 field differs",
        where: at(31),
        phase: ready,
        before: orders,
        after: database("us-east-1", { name: "reports", maxMemory: "6GB" }),
        fields: [field("config.name", { before: "orders", after: "reports" })],
      }),
    ],
    steps: [
      step("bind", "instances.orders#bind"),
      step("bind", "instances.carts#bind"),
      step("update", "instances.carts", { after: ["instances.carts#bind"] }),
      step("move", "instances.reports#move", { from: "instances.analytics" }),
      step("update", "instances.reports", { after: ["instances.reports#move"] }),
    ],
    census: {
      declared: 5,
      checked: 3,
      skipped: 2,
      unmanaged: 0,
      fields: { probed: 1, described: 12, echoed: 0, recorded: 0 },
    },
    forecast: { restarts: 1, replacements: 0, seconds: 95 },
    complete: false,
  }),
  "105-hostile-words": plan({
    name: "shop\u001b[2J",
    changes: [
      change("update", 'instances.cache["\u202egpj.exe\u001b[31m"]', {
        id: "id-\u0000\u200b\nPlan: 0 to add",
        reason: "1 field differs\n\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007",
        where: { file: "a\u001b[0m.yaml", start: { line: 3, column: 1 }, end: { line: 3, column: 2 } },
        phase: { is: "failed", detail: "<script>alert(1)</script> **bold** \ud800" },
        before: database("us-east-1", { description: "\u009b31m" }),
        after: database("us-east-1", { description: "x" }),
        fields: [
          field("config.description", {
            before: "\u009b31m\u2066\u{e0041}\r\n",
            after: `${"long ".repeat(2000)}end`,
          }),
        ],
        blocked: [{ code: "protect", message: "pro\u001b[8mtected", lift: "--allow-destroy \u202e" }],
      }),
    ],
    outputs: { "na\u001bme": { action: "create", after: "\u200f", unknown: false, sensitive: false } },
    census: {
      declared: 1,
      checked: 1,
      skipped: 0,
      unmanaged: 0,
      fields: { probed: 0, described: 1, echoed: 0, recorded: 0 },
    },
  }),
  "106-gone-failed-waiting-drifted": plan({
    changes: [
      change("create", "instances.orders", {
        id: "instance-1",
        reason:
          "instance-1 is gone: it was deleted outside graphform, and its data is lost; a new, empty one is created",
        gone: true,
        where: at(12),
        after: database("us-east-1", { name: "orders", graphdbPassword: sealed("orders") }),
      }),
      change("update", "instances.jobs", {
        id: "instance-2",
        reason: "failed (FAILED: out of capacity); tried again in place",
        disruption: "restart",
        where: at(22),
        phase: { is: "failed", detail: "FAILED: out of capacity" },
        before: { ...orders, power: "failed" },
        after: { ...orders, power: "running" },
        fields: [field("power", { before: "failed", after: "running", disruption: "restart" })],
      }),
      change("keep", "cloudAccounts.prod", {
        id: "acc-1",
        reason: "as declared",
        phase: { is: "waiting-for-person", detail: "PENDING: run the bootstrap in the account" },
      }),
      change("keep", "instances.wiki", {
        id: "instance-3",
        reason: "as declared",
        phase: ready,
        before: database("us-east-1", { description: "edited by hand", maxMemory: "6GB" }),
        drift: [
          field("config.description", { before: "the wiki", after: "edited by hand", source: "recorded" }),
        ],
      }),
    ],
    steps: [
      step("create", "instances.orders"),
      step("operate", "instances.jobs#restart", { verb: "restart" }),
      step("wait", "cloudAccounts.prod"),
    ],
    census: {
      declared: 4,
      checked: 3,
      skipped: 0,
      unmanaged: 1,
      fields: { probed: 0, described: 11, echoed: 2, recorded: 3 },
    },
    forecast: { restarts: 1, replacements: 0, seconds: 600 },
  }),
};
