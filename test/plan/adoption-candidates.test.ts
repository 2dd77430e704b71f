import { describe, expect, it } from "vitest";
import { instance } from "../../src/kinds/instance.ts";
import { network } from "../../src/kinds/network.ts";
import { user } from "../../src/kinds/user.ts";
import type { Desired } from "../../src/model/desired.ts";
import { defined, type JsonObject } from "../../src/model/json.ts";
import { kindRegistry } from "../../src/model/kind.ts";
import type { Owner, Unmanaged } from "../../src/model/observed.ts";
import type { Plan } from "../../src/model/plan.ts";
import { findByName } from "../../src/plan/adoption-candidates.ts";
import { makePlan } from "../../src/plan/make-plan.ts";
import { actions, type Case, kindLike, planInput, type Scene } from "../support/plan-input.ts";
import { toyProfile } from "../support/toy-kind.ts";

const core = { name: "core", cloudProvider: "aws", region: "us-east-1" };

/** Somebody's network, as it shows itself. */
function there(id: string, spec: JsonObject): Unmanaged {
  const shown = Object.entries({ ...core, cidr: "10.0.0.0/16", ...spec, id });
  const seen = shown.map(([path, value]) => [path, { value, source: "described" as const }]);
  const live = {
    id,
    phase: { is: "ready" as const, detail: "READY" },
    spec: Object.fromEntries(seen),
    outputs: { id },
  };
  return { kind: "networks", id, place: {}, live };
}

const endpoint = { method: "POST", host: "platform", path: "/", query: {}, body: {}, answer: {} } as const;

/** What becomes of declared networks beside these, in short. */
function becomes(
  declared: { readonly [name: string]: JsonObject },
  unmanaged: readonly Unmanaged[],
  serial = 3,
): { readonly [address: string]: string } {
  const scene = Object.entries(declared).map(
    ([name, spec]) => [`networks.${name}`, { wants: spec }] as const,
  );
  const operations = { "network.create": endpoint, "network.update": endpoint, "network.delete": endpoint };
  const input = planInput(Object.fromEntries(scene), {
    kinds: kindRegistry([network]),
    profile: { ...toyProfile, operations },
    serial,
  });
  const found = findByName({ observed: input.observed, unmanaged }, input);
  return actions(makePlan({ ...input, ...found }));
}

describe("a network that is declared, bound to nothing, and there already under its name", () => {
  const rows: readonly (readonly [
    string,
    { readonly [name: string]: JsonObject },
    readonly Unmanaged[],
    string,
  ])[] = [
    ["is bound, where all that is declared is so", { core }, [there("n-1", {})], "adopt"],
    [
      "is bound among others of other names",
      { core },
      [there("n-2", { name: "edge" }), there("n-1", {})],
      "adopt",
    ],
    [
      "is bound with its own addresses, where none are declared",
      { core },
      [there("n-1", { cidr: "10.7.0.0/16" })],
      "adopt",
    ],
    ["is another one in another region", { core }, [there("n-1", { region: "eu-west-1" })], "create"],
    ["is another one at another provider", { core }, [there("n-1", { cloudProvider: "gcp" })], "create"],
    [
      "is another one with other addresses",
      { core: { ...core, cidr: "10.9.0.0/16" } },
      [there("n-1", {})],
      "create",
    ],
    ["is in doubt where there are two", { core }, [there("n-1", {}), there("n-2", {})], "create !may-exist"],
    [
      "is no match for one without a name",
      { core: { cloudProvider: "aws", region: "us-east-1" } },
      [there("n-1", {})],
      "create",
    ],
  ];
  it.each(rows)("%s", (_reason, declared, unmanaged, expected) => {
    expect(becomes(declared, unmanaged)).toEqual({ "networks.core": expected });
    expect(becomes(declared, unmanaged, 0)).toEqual({ "networks.core": expected });
  });

  it("is what those refer to that show its id", () => {
    const tenant = { wants: { network: "core" }, has: { network: "n-1" } };
    const input = planInput(
      { "networks.core": { wants: core }, "instances.a": tenant },
      { kinds: kindRegistry([network, instance]) },
    );
    const { observed } = findByName({ observed: input.observed, unmanaged: [there("n-1", {})] }, input);
    expect(observed.get("instances.a")?.spec["network"]?.value).toBe("core");
    expect(observed.get("networks.core")?.spec["id"]?.value).toBe("n-1");
  });

  it("is in doubt where two addresses could mean it", () => {
    const twice = becomes({ core, again: core }, [there("n-1", {})]);
    expect(twice).toEqual({ "networks.core": "create !may-exist", "networks.again": "create !may-exist" });
  });
});

const intent = {
  ...{ round: "r", digest: "", startedAt: "", recorded: {} },
  ...{ protect: false, onDelete: "delete" as const, refs: [] },
};

describe("what is never bound by its name alone", () => {
  it("is a kind that holds data: it waits for a person's word", () => {
    const kind = kindLike("networks", { schema: network.schema, holdsData: true });
    const input = planInput({ "networks.core": { wants: core } }, { kinds: kindRegistry([kind]) });
    const unmanaged = [there("n-1", {})];
    expect(findByName({ observed: input.observed, unmanaged }, input)).toEqual({
      observed: input.observed,
      unmanaged,
    });
  });

  it.each([
    ["may be what an open create has made, which apply looks for", [], "create"],
    ["was there before an open create", ["n-1"], "create !may-exist"],
  ])("is a kind that holds data, of which one %s", (_, before, expected) => {
    const kind = kindLike("networks", { schema: network.schema, holdsData: true });
    const input = planInput(
      { "networks.core": { wants: core } },
      { kinds: kindRegistry([kind]), unmanaged: [there("n-1", {})] },
    );
    const rounds = { r: { kind: "networks", place: {}, classKey: "", before } };
    const state = { ...input.state, intents: { "networks.core": intent }, rounds };
    expect(actions(makePlan({ ...input, state }))).toEqual({ "networks.core": expected });
  });

  it("is what is bound, imported, or announced already", () => {
    const unmanaged = [there("n-1", {})];
    const bound = planInput(
      { "networks.core": { wants: core, has: core } },
      { kinds: kindRegistry([network]) },
    );
    const imported = planInput(
      { "networks.core": { wants: core, importId: "n-9" } },
      { kinds: kindRegistry([network]) },
    );
    const open = planInput({ "networks.core": { wants: core } }, { kinds: kindRegistry([network]) });
    const announced = { ...open, state: { ...open.state, intents: { "networks.core": intent } } };
    for (const input of [bound, imported, announced]) {
      expect(findByName({ observed: input.observed, unmanaged }, input).unmanaged).toEqual(unmanaged);
    }
    const [desired]: readonly Desired[] = open.desired;
    expect(
      findByName(
        { observed: open.observed, unmanaged },
        { ...open, desired: desired === undefined ? [] : [desired] },
      ).unmanaged,
    ).toEqual([]);
  });
});

describe("a user whose instance shows one of its name already", () => {
  const reader = { instance: "a", username: "reader", password: "p", acl: "~*" };
  const unmanaged = ["i-1/reader", "i-1/other"].map((id) => ({ kind: "users", id, place: {} }));
  const operations = Object.fromEntries(
    ["user", "instance"].flatMap((kind) =>
      ["create", "update", "delete"].map((verb) => [`${kind}.${verb}`, endpoint]),
    ),
  );
  const plan = (scene: Scene): Plan =>
    makePlan(
      planInput(scene, {
        kinds: kindRegistry([user, instance]),
        profile: { ...toyProfile, operations },
        unmanaged,
      }),
    );
  const here = { wants: { tier: "pro" }, has: { tier: "pro" }, id: "i-1" };

  it("is not created: it waits for a person's word", () => {
    const { changes } = plan({ "instances.a": here, "users.r": { wants: reader, refs: ["instances.a"] } });
    expect(changes.find(({ address }) => address === "users.r")).toMatchObject({
      action: "create",
      reason: "no object is bound to it",
      blocked: [
        {
          code: "may-exist",
          message: "i-1/reader exists already under this name, and this state does not know whose it is",
          lift: "graphform import users.r i-1/reader, or another name",
        },
      ],
    });
  });

  it.each<[string, Case, JsonObject]>([
    ["has another name", here, { username: "writer" }],
    ["is to be on another instance, of whatever id", { ...here, id: "i-10" }, {}],
    ["is to be on an instance that is created with it", { wants: { tier: "pro" } }, {}],
  ])("is created as always, if it %s", (_, owner, differing) => {
    const wants = { ...reader, ...differing };
    const scene = { "instances.a": owner, "users.r": { wants, refs: ["instances.a"] } };
    expect(actions(plan(scene))["users.r"]).toBe("create");
  });

  it("is created as always on an instance that is replaced", () => {
    const moving = {
      ...here,
      wants: { tier: "startup" },
      lifecycle: { protect: false, onReplace: "recreate" as const },
    };
    const scene = { "instances.a": moving, "users.r": { wants: reader, refs: ["instances.a"] } };
    expect(actions(plan(scene))).toEqual({ "instances.a": "replace", "users.r": "create" });
  });
});

describe("a database that is to be created by a state that knows nothing", () => {
  const kind = kindLike("networks", { schema: network.schema, holdsData: true });
  /** The service shows no names. */
  const nameless = (id: string, spec: JsonObject = {}, owner?: Owner): Unmanaged => {
    const { live, ...other } = there(id, spec);
    if (live === undefined) return other;
    const { name: _, ...shown } = live.spec;
    return { ...other, live: { ...live, spec: shown, ...defined({ owner }) } };
  };
  const leaving = ({ live, ...other }: Unmanaged): Unmanaged => {
    const phase = { is: "pending", detail: "DELETING", isLeaving: true } as const;
    return { ...other, ...defined({ live: live && { ...live, phase } }) };
  };
  const reasonOf = (unmanaged: readonly Unmanaged[], appliedPlans: readonly string[] = []): string => {
    const input = planInput({ "networks.core": { wants: core } }, { kinds: kindRegistry([kind]), unmanaged });
    const [change] = makePlan({ ...input, state: { ...input.state, appliedPlans } }).changes;
    expect(change).toMatchObject({ action: "create", blocked: [] });
    return change?.reason ?? "";
  };

  it("says which objects may be it already, where the service shows no names", () => {
    expect(reasonOf([nameless("n-1"), nameless("n-2", { region: "eu-west-1" })])).toBe(
      "the state knows nothing, and n-1 is there already, alike as far as the service shows: if it is this, put the lost state back, or bind it under imports",
    );
    expect(reasonOf(["n-1", "n-2", "n-3", "n-4", "n-5"].map((id) => nameless(id)))).toContain(
      "n-1, n-2, n-3 and 2 more are there already",
    );
  });

  it("says nothing of others' objects, of other names, of what is being deleted, and where the state has known something", () => {
    const others = nameless("n-1", {}, { lineage: "another", address: "networks.other" });
    const none = "does not exist yet";
    expect(reasonOf([others])).toBe(none);
    expect(reasonOf([leaving(nameless("n-1"))])).toBe(none);
    expect(reasonOf([leaving(there("n-1", {}))])).toBe(none);
    expect(reasonOf([there("n-1", { name: "edge" })])).toBe(none);
    expect(reasonOf([nameless("n-1")], ["fingerprint"])).toBe(none);
    expect(reasonOf([{ kind: "networks", id: "n-1", place: {} }])).toBe(none);
  });
});
