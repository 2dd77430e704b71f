import type { Guard, Plan } from "../../src/model/plan.ts";
import { at, change, database, field, plan, sealed, step } from "./plan-parts.ts";

const protect: Guard = {
  code: "protect",
  message: "protected",
  lift: "--allow-destroy instances.orders, or lifecycle.protect: false",
};

const onReplace: Guard = {
  code: "on-replace",
  message: "region needs a replacement, which is refused: the new one starts empty",
  lift: "--replace instances.orders, or lifecycle.onReplace: recreate",
};

const dependent: Guard = {
  code: "depends-on-blocked",
  message: "instances.orders is blocked",
  lift: "lift the guard of instances.orders",
};

const orders = {
  name: "orders",
  nodeInstanceType: "m7g.large",
  maxMemory: "6GB",
  graphdbUser: "app",
  graphdbPassword: sealed("orders"),
};
const cache = {
  name: "cache-eu",
  nodeInstanceType: "m7g.large",
  maxMemory: "4GB",
  graphdbUser: "app",
  graphdbPassword: sealed("cache"),
};

/** A little of everything: what a person would see on a bad day. */
export const samplePlan: Plan = plan({
  changes: [
    change("keep", "networks.core", {
      id: "n-12345678",
      reason: "as declared",
      where: at(26),
      phase: { is: "ready", detail: "RUNNING" },
    }),
    change("replace", "instances.orders", {
      id: "instance-7c1e09",
      reason: "region cannot be changed in place",
      forcedBy: "region",
      disruption: "data-loss",
      where: at(34),
      phase: { is: "ready", detail: "RUNNING" },
      before: database("us-east-1", orders),
      after: database("eu-west-1", { ...orders, maxMemory: "8GB", graphDBCacheSize: 100 }),
      fields: [
        field("config.graphDBCacheSize", {
          before: 25,
          after: 100,
          source: "recorded",
          effect: "replace",
          disruption: "data-loss",
        }),
        field("config.maxMemory", { before: "6GB", after: "8GB", disruption: "restart" }),
        field("region", {
          before: "us-east-1",
          after: "eu-west-1",
          effect: "replace",
          disruption: "data-loss",
        }),
      ],
      blocked: [protect, onReplace],
    }),
    change("create", "users.reader", {
      reason: "does not exist yet",
      where: at(78),
      after: {
        instance: "orders",
        username: "reader",
        password: sealed("reader"),
        acl: "~* +GRAPH.RO_QUERY +GRAPH.EXPLAIN +GRAPH.LIST +INFO +PING",
      },
      blocked: [dependent],
    }),
    change("update", "instances.sessions", {
      id: "instance-a2204f",
      reason: "2 fields differ",
      disruption: "restart",
      where: at(52),
      phase: { is: "ready", detail: "RUNNING" },
      before: database("us-east-1", { name: "sessions", maxMemory: "4GB" }),
      after: database("us-east-1", {
        name: "sessions",
        maxMemory: "6GB",
        graphdbPassword: sealed("sessions-new"),
      }),
      fields: [
        field("config.graphdbPassword", {
          before: sealed("sessions-old"),
          after: sealed("sessions-new"),
          source: "recorded",
          disruption: "restart",
          secret: true,
        }),
        field("config.maxMemory", { before: "4GB", after: "6GB", disruption: "restart" }),
      ],
      drift: [
        field("config.maxMemory", { before: "6GB", after: "4GB", source: "recorded", disruption: "restart" }),
      ],
    }),
    change("update", "instances.search", {
      id: "instance-0b93d7",
      reason: "1 field differs",
      where: at(61),
      phase: { is: "ready", detail: "RUNNING" },
      before: database("us-east-1", { name: "search", description: "full text over the catalogue" }),
      after: database("us-east-1", {
        name: "search",
        description: "full text over the catalogue, the reviews and the help pages",
      }),
      fields: [
        field("config.description", {
          before: "full text over the catalogue",
          after: "full text over the catalogue, the reviews and the help pages",
          source: "echoed",
        }),
      ],
    }),
    change("create", 'instances.cache["eu-west-1"]', {
      reason: "does not exist yet",
      where: at(70),
      after: database("eu-west-1", cache),
    }),
    change("delete", "instances.trial", {
      id: "instance-f00d42",
      reason: "no longer declared",
      disruption: "data-loss",
      phase: { is: "failed", detail: "FAILED: out of capacity" },
      before: { tier: "free", component: "free", cloudProvider: "aws", region: "us-east-1" },
    }),
    change("move", "instances.reports", {
      id: "instance-5e1122",
      previousAddress: "instances.analytics",
      reason: "moved from instances.analytics",
      where: at(90),
      before: database("us-east-1", { name: "reports" }),
      after: database("us-east-1", { name: "reports" }),
    }),
    change("forget", "instances.legacy", {
      id: "instance-1e9acc",
      reason: "handed to team blue",
      where: at(101),
    }),
    change("keep", "instances.vault", {
      id: "instance-33ab10",
      reason: "as declared",
      where: at(44),
      phase: { is: "pending", detail: "DEPLOYING" },
    }),
  ],
  steps: [
    step("delete", "instances.orders#delete", { id: "instance-7c1e09", blocked: [protect, onReplace] }),
    step("create", "instances.orders", { after: ["instances.orders#delete"], blocked: [protect, onReplace] }),
    step("create", "users.reader", { after: ["instances.orders"], blocked: [dependent] }),
    step("update", "instances.sessions", { id: "instance-a2204f" }),
    step("update", "instances.search", { id: "instance-0b93d7" }),
    step("create", 'instances.cache["eu-west-1"]'),
    step("delete", "instances.trial", { id: "instance-f00d42" }),
    step("move", "instances.reports#move", { id: "instance-5e1122", from: "instances.analytics" }),
    step("forget", "instances.legacy", { id: "instance-1e9acc" }),
    step("wait", "instances.vault", { id: "instance-33ab10" }),
  ],
  outputs: {
    cacheEndpoint: {
      action: "create",
      after: { $template: [{ $ref: 'instances.cache["eu-west-1"].endpoint' }] },
      unknown: true,
      sensitive: false,
    },
    ordersUrl: {
      action: "update",
      before: "redis://orders.example.net:6379",
      after: { $template: ["rediss://", { $ref: "instances.orders.host" }, ":6379"] },
      unknown: true,
      sensitive: false,
    },
    sessionsPassword: {
      action: "update",
      before: sealed("sessions-old"),
      after: sealed("sessions-new"),
      unknown: false,
      sensitive: true,
    },
    searchPort: { action: "no-op", before: 6379, after: 6379, unknown: false, sensitive: false },
  },
  census: {
    declared: 8,
    checked: 8,
    skipped: 0,
    unmanaged: 2,
    fields: { probed: 4, described: 41, echoed: 6, recorded: 19 },
  },
  forecast: { restarts: 1, replacements: 0, seconds: 730 },
});
