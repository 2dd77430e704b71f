import { describe, expect, it } from "vitest";
import { stableJson } from "../../src/model/json.ts";
import type { Plan } from "../../src/model/plan.ts";
import { makePlan } from "../../src/plan/make-plan.ts";
import { createVault } from "../../src/state/vault.ts";
import { planInput, planOf, type Rest, type Scene } from "../support/plan-input.ts";

const password = "correct horse battery staple";

/** A plan under one of the keys that states have at random. */
function planUnder(key: string, secret = password): Plan {
  const vault = createVault(key);
  const token = vault.seal(secret, "secret.word");
  return planOf({
    fresh: { wants: { token } },
    changed: { wants: { token }, has: {}, recorded: { token: vault.seal("the old one", "secret.old") } },
    around: {
      wants: { colour: { $template: ["at ", token, " ", { $ref: "toys.fresh.endpoint" }] } },
      refs: ["fresh"],
    },
  });
}

describe("a plan's fingerprint", () => {
  const one = planUnder("11".repeat(32));

  it("does not depend on the key of the state", () => {
    expect(planUnder("22".repeat(32)).fingerprint).toBe(one.fingerprint);
    expect(JSON.stringify(planUnder("22".repeat(32)))).not.toBe(JSON.stringify(one));
  });

  it("does not give away the secret", () => {
    expect(planUnder("11".repeat(32), "another one").fingerprint).toBe(one.fingerprint);
  });

  it.each<[string, Scene, Rest]>([
    ["another value", { a: { wants: { colour: "green" }, has: { colour: "blue" } } }, {}],
    ["another thing that is there", { a: { wants: { colour: "red" }, has: { colour: "black" } } }, {}],
    [
      "another version of the state",
      { a: { wants: { colour: "red" }, has: { colour: "blue" } } },
      { serial: 4 },
    ],
    [
      "a guard",
      { a: { wants: { colour: "red" }, has: { colour: "blue" } } },
      { guards: { maxChangePercent: 0, maxDisruption: "none" }, name: "other" },
    ],
    [
      "less that was looked at",
      { a: { wants: { colour: "red" }, has: { colour: "blue" } } },
      { options: { exclude: ["toys.b"] } },
    ],
  ])("differs with %s", (_, scene, rest) => {
    const plain = planOf({ a: { wants: { colour: "red" }, has: { colour: "blue" } } });
    expect(planOf(scene, rest).fingerprint).not.toBe(plain.fingerprint);
  });

  it("differs with the service, and not with the version of its profile", () => {
    const input = planInput({ a: { wants: { colour: "red" } } });
    const at = (platform: string, digest: string): string =>
      makePlan({
        ...input,
        state: { ...input.state, service: { platform, keys: {}, locations: { get: digest } } },
      }).fingerprint;
    expect(at("https://b", "1")).not.toBe(at("https://a", "1"));
    expect(at("https://a", "2")).toBe(at("https://a", "1"));
  });

  it("does not differ with what stays as it is", () => {
    const scene: Scene = { a: { wants: { colour: "red" }, has: { colour: "blue" } } };
    const more = planOf({ ...scene, b: { wants: {}, has: {} } });
    expect(more.fingerprint).toBe(planOf(scene).fingerprint);
  });
});

describe("a plan", () => {
  it("holds no byte of a secret", () => {
    const text = JSON.stringify(planUnder("11".repeat(32)));
    expect(text).not.toContain(password);
    expect(text).not.toContain("the old one");
    expect(text).toContain("$secret");
  });

  it("is JSON and nothing else", () => {
    const plan = planUnder("11".repeat(32));
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });

  it("is the same bytes for the same input", () => {
    expect(JSON.stringify(planUnder("11".repeat(32)))).toBe(JSON.stringify(planUnder("11".repeat(32))));
  });

  it("does not depend on the order in which its input comes", () => {
    const scene: Scene = {
      a: { wants: { colour: "red", home: "b" }, has: { colour: "blue", home: "b" }, refs: ["b"] },
      b: { wants: { size: 2 }, has: { size: 1 } },
      c: { has: {} },
      d: { wants: {} },
    };
    const backwards = Object.fromEntries(Object.entries(scene).reverse());
    const [one, other] = [planInput(scene), planInput(backwards)];
    expect(one.desired.map(({ address }) => address)).not.toEqual(
      other.desired.map(({ address }) => address),
    );
    expect(stableJson(JSON.parse(JSON.stringify(planOf(scene))))).toBe(
      stableJson(JSON.parse(JSON.stringify(planOf(backwards)))),
    );
  });
});
