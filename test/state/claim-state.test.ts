import { describe, expect, it } from "vitest";
import { isGraphformError } from "../../src/model/errors.ts";
import type { ManifestIdentity, ServiceIdentity } from "../../src/model/service-identity.ts";
import type { Bound, StateDocument } from "../../src/model/state.ts";
import { claimState } from "../../src/state/claim-state.ts";
import { emptyState } from "../../src/state/document.ts";

const service: ServiceIdentity = { platform: "https://a.example.com", keys: {}, locations: {} };

function bound(id: string, over: Partial<Bound> = {}): Bound {
  return {
    kind: "instances",
    id,
    place: { tier: "pro", component: "standalone" },
    recorded: {},
    protect: false,
    onDelete: "delete",
    refs: [],
    createdAt: "2026-01-01T00:00:00.000Z",
    ...over,
  };
}

function stateOf(over: Partial<StateDocument> = {}): StateDocument {
  return { ...emptyState("shop"), serial: 3, service, resources: { "instances.a": bound("i-1") }, ...over };
}

/** The claimed state, or the code and the message of the refusal. */
function claimed(
  state: StateDocument,
  claim: { readonly service?: ServiceIdentity; readonly manifest?: ManifestIdentity } = {},
): StateDocument | string {
  try {
    return claimState(state, { service, manifest: {}, where: "s.json", ...claim });
  } catch (error) {
    if (!isGraphformError(error) || error.hint === undefined) throw error;
    return `${error.code}: ${error.message}; ${error.hint}`;
  }
}

describe("a state belongs to a manifest", () => {
  const [prod, test] = [{ environment: "prod" }, { environment: "test" }];
  const [here, there] = [{ paths: ["envs/prod/graphform.yaml"] }, { paths: ["envs/test/graphform.yaml"] }];
  const layers = (...names: string[]): ManifestIdentity => ({
    paths: names.map((name) => `envs/${name}.yaml`),
  });

  it.each<[reason: string, before: ManifestIdentity, now: ManifestIdentity, after: ManifestIdentity]>([
    ["the same environment", prod, prod, prod],
    ["the same environment, moved", { ...prod, ...here }, { ...prod, ...there }, { ...prod, ...there }],
    ["the same path", here, here, here],
    ["a layer more", layers("base", "prod"), layers("base", "more", "prod"), layers("base", "more", "prod")],
    ["a layer less", layers("base", "more", "prod"), layers("base", "prod"), layers("base", "prod", "more")],
    [
      "a layer in place of another",
      { ...prod, ...layers("a", "b") },
      { ...prod, ...layers("a", "c") },
      layers("a", "c", "b"),
    ],
    ["the same path, which declares an environment now", here, { ...prod, ...here }, { ...prod, ...here }],
    [
      "a layer less, which declared its environment",
      { ...prod, ...layers("base", "prod") },
      layers("base"),
      { ...prod, ...layers("base", "prod") },
    ],
    ["the same path, which declares none any more", { ...prod, ...here }, here, here],
    ["a manifest outside of a repository: it is not known to be another", here, {}, here],
    ["an environment, where only a path was known outside of a repository", here, prod, { ...prod, ...here }],
  ])("takes %s, and knows it from then on", (_, before, now, after) => {
    expect(claimed(stateOf({ manifest: before }), { manifest: now })).toMatchObject({ manifest: after });
  });

  it.each<[reason: string, before: ManifestIdentity, now: ManifestIdentity, said: string]>([
    ["another environment", prod, test, "environment prod, now environment test"],
    ["another environment at the same path", { ...prod, ...here }, { ...test, ...here }, "environment prod"],
    [
      "another path",
      here,
      there,
      "graphform.yaml (no environment), now envs/test/graphform.yaml (no environment)",
    ],
    ["another path, which declares an environment", here, { ...prod, ...there }, "(environment prod)"],
    ["another path than that of an environment", { ...prod, ...here }, there, "(environment prod), now envs"],
    ["one that declares none, where one was declared", prod, here, "environment prod, now envs"],
    ["one of which nothing is known, where an environment was declared", prod, {}, "now no environment"],
  ])("refuses %s, with the ways out", (_, before, now, said) => {
    const refusal = claimed(stateOf({ manifest: before }), { manifest: now });
    expect(refusal).toContain("state-manifest: the state s.json belongs to another manifest: ");
    expect(refusal).toContain(said);
    expect(refusal).toContain("graphform state rebind");
  });

  it("belongs to nobody while it binds nothing, and to whoever writes it next if it is older than its mark", () => {
    const empty = stateOf({ manifest: here, resources: {} });
    expect(claimed(empty, { manifest: there })).toMatchObject({ manifest: there });
    expect(claimed(stateOf(), { manifest: there })).toMatchObject({ manifest: there, service });
  });
});

describe("a state belongs to an account", () => {
  const seeing = (...accountSubscriptions: string[]): ServiceIdentity => ({
    ...service,
    accountSubscriptions,
  });

  it("takes another account that sees one of its subscriptions, and keeps what both see", () => {
    const state = stateOf({ service: seeing("sub-a", "sub-team") });
    expect(claimed(state, { service: seeing("sub-b", "sub-team") })).toMatchObject({
      service: { accountSubscriptions: ["sub-team"] },
    });
  });

  it("refuses an account that sees none of them", () => {
    const state = stateOf({ service: seeing("sub-a", "sub-team") });
    const refusal = claimed(state, { service: seeing("sub-x") });
    expect(refusal).toContain(
      "state-service: the state s.json belongs to another service: an account with the subscriptions sub-a, sub-team, now one with sub-x",
    );
    expect(refusal).toContain("graphform state rebind");
  });

  it.each([
    ["a service that shows none now", seeing("sub-a"), service, ["sub-a"]],
    ["a state that knew none", service, seeing("sub-a"), ["sub-a"]],
  ])("takes %s", (_, before, now, after) => {
    expect(claimed(stateOf({ service: before }), { service: now })).toMatchObject({
      service: { accountSubscriptions: after },
    });
  });

  it("compares the subscriptions of tiers in which it has an object, and of no other: a free one is everybody's own", () => {
    const before = { ...service, subscriptions: { pro: "sub-team", free: "sub-a" } };
    const now = { ...service, subscriptions: { pro: "sub-team", free: "sub-b" } };
    expect(claimed(stateOf({ service: before }), { service: now })).toMatchObject({ service: now });
    const refusal = claimed(stateOf({ service: before }), {
      service: { ...service, subscriptions: { pro: "sub-x" } },
    });
    expect(refusal).toContain("subscription of pro sub-team, now sub-x");
  });
});

describe("a state binds each object once", () => {
  it("refuses two addresses with one id, with the way out", () => {
    const resources = {
      "instances.a": bound("i-1"),
      'instances.b["x"]': bound("i-1", { place: { tier: "free", component: "free" } }),
    };
    const refusal = claimed(stateOf({ resources }));
    expect(refusal).toContain(
      'state-doubled: the state s.json binds i-1 twice, at instances.a and at instances.b["x"]',
    );
    expect(refusal).toContain(`graphform state rm 'instances.b["x"]'`);
  });

  it("takes objects of two kinds with one id", () => {
    const resources = {
      "instances.a": bound("1"),
      "networks.a": bound("1", { kind: "networks", place: {} }),
    };
    expect(claimed(stateOf({ resources }))).toMatchObject({ resources });
  });
});
