import type { Endpoint, Profile, TierKeys } from "../../src/model/service.ts";

const endpoint: Endpoint = { method: "POST", host: "platform", path: "/", query: {}, body: {}, answer: {} };

function tier(components: readonly string[], instanceTypes: TierKeys["instanceTypes"]): TierKeys {
  const keys = Object.fromEntries(components.map((component) => [component, component]));
  return { serviceModelKey: "m", productTierKey: "p", components: keys, instanceTypes };
}

const zones = ["standalone", "single-zone", "multi-zone"];

/** A small profile: what the rules of the manifest read, and as little as possible of the rest. */
export const testProfile: Profile = {
  name: "test",
  keys: {},
  session: {
    send: "cookie",
    tokenCookie: "t",
    refreshCookie: "r",
    tokenAnswer: [],
    refreshAnswer: [],
    tokenLifetime: 1,
    refreshLifetime: 1,
    missingToken: "missing",
  },
  signIn: endpoint,
  operations: { "instance.create": endpoint, "user.create": endpoint },
  backupBy: ["instance.backup"],
  lacks: [],
  tiers: {
    "enterprise-byoa": tier(zones, "any"),
    enterprise: tier(zones, "any"),
    pro: tier(zones, "listed"),
    startup: tier(["standalone"], "any"),
    free: tier(["free"], "any"),
  },
  fields: {},
  statuses: {},
  busy: "busy",
  networkTypes: ["PUBLIC", "INTERNAL"],
  timing: {
    clock: 1000,
    settle: 0,
    listLag: 0,
    endpoint: 0,
    poll: { first: 1, longest: 1 },
    expect: {},
    timeout: {},
  },
  instanceTypes: {
    aws: {
      "t4g.medium": { cpus: 2, memoryGB: 4 },
      "m7g.large": { cpus: 2, memoryGB: 8 },
      "r7g.large": { cpus: 2, memoryGB: 16 },
    },
    gcp: { "e2-medium": { cpus: 2, memoryGB: 4 }, "e2-standard-2": { cpus: 2, memoryGB: 8 } },
  },
  users: {
    usernameMin: 3,
    passwordMin: 6,
    commands: [
      "INFO",
      "PING",
      "CLIENT",
      "MODULE|LIST",
      "GRAPH.QUERY",
      "GRAPH.RO_QUERY",
      "GRAPH.EXPLAIN",
      "GRAPH.LIST",
    ],
  },
};
