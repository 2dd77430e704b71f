import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defined, stableJson } from "../../src/model/json.ts";
import type { Plan, Step } from "../../src/model/plan.ts";
import { createVault } from "../../src/state/vault.ts";
import { actions, type Case, planOf, type Rest, type Scene } from "../support/plan-input.ts";
import { runs } from "../support/runs.ts";

const secrets = ["tell nobody", "nor anybody else"];
const vault = createVault("33".repeat(32));
const names = ["a", "b", "c", "d", "e", "f"];
const spec = fc.record(
  {
    colour: fc.constantFrom("red", "blue"),
    size: fc.constantFrom(1, 2),
    memory: fc.constantFrom("1GB", "1024MB", "2GB"),
    power: fc.constantFrom("running", "stopped"),
    token: fc.constantFrom(...secrets).map((text) => vault.seal(text, "secret.token")),
  },
  { requiredKeys: [] },
);

/** Any toy: wanted or not, there or not, in any phase, in the middle of anything. */
function toyAt(at: number): fc.Arbitrary<Case> {
  const earlier = fc.subarray(names.slice(0, at), { maxLength: Math.min(at, 2) });
  return fc
    .record({
      wanted: fc.boolean(),
      there: fc.boolean(),
      known: fc.boolean(),
      wants: spec,
      has: spec,
      phase: fc.constantFrom("ready", "stopped", "pending", "failed", "waiting-for-person"),
      // What is wanted has no circles, since the manifest is checked; what an old state remembers may have some.
      refs: earlier,
      boundRefs: fc.subarray(names, { maxLength: 2 }),
      protect: fc.boolean(),
      onReplace: fc.constantFrom("refuse", "recreate"),
      operation: fc.constantFrom("create", "update", "delete", "stop", undefined),
    })
    .map(
      ({ wanted, there, known, wants, has, phase, refs, boundRefs, protect, onReplace, operation }): Case => {
        const [home] = refs;
        const converging =
          operation === undefined
            ? {}
            : { converging: { operation, since: "2026-01-01T00:00:00.000Z", record: {} } };
        const { token: _token, power: _power, ...shown } = has;
        return {
          ...(wanted ? { wants: { ...wants, ...defined({ home }) } } : {}),
          ...(there && known ? { has: shown, phase } : {}),
          recorded: known ? has : false,
          refs,
          boundRefs,
          lifecycle: { protect, onReplace },
          ...converging,
        };
      },
    );
}

const scenes: fc.Arbitrary<Scene> = fc
  .tuple(...names.map((_, at) => toyAt(at)))
  .map((cases) => Object.fromEntries(cases.map((entry, at): [string, Case] => [names[at] ?? "", entry])));

const rests: fc.Arbitrary<Rest> = fc.record({
  options: fc.record({
    replace: fc.subarray(
      names.map((name) => `toys.${name}`),
      { maxLength: 1 },
    ),
    allowDestroy: fc.subarray(
      names.map((name) => `toys.${name}`),
      { maxLength: 2 },
    ),
    targets: fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.constant(["toys.c"]) },
    ),
  }),
  guards: fc.record({
    maxDeletes: fc.constantFrom(0, 2, 9),
    maxDisruption: fc.constantFrom("none", "restart", "data-loss"),
  }),
});

/** Keys in an order in which each comes after everything it waits for; fewer than there are where there is a circle. */
function sorted(steps: readonly Step[]): readonly string[] {
  const done = new Set<string>();
  for (let before = -1; before < done.size; ) {
    before = done.size;
    for (const step of steps) if (step.after.every((key) => done.has(key))) done.add(step.key);
  }
  return [...done];
}

function check(property: (plan: Plan, scene: Scene, rest: Rest) => void): void {
  fc.assert(
    fc.property(scenes, rests, (scene, rest) => property(planOf(scene, rest), scene, rest)),
    { numRuns: runs(500) },
  );
}

describe("every plan", () => {
  it("has steps with keys of their own, in an order that can be walked", () => {
    check(({ steps }) => {
      const keys = steps.map((step) => step.key);
      expect(new Set(keys).size).toBe(keys.length);
      expect([...sorted(steps)].sort()).toEqual([...keys].sort());
    });
  });

  it("builds nothing before what it refers to", () => {
    check(({ steps }) => {
      const builds = (step: Step): boolean => step.operation === "create" || step.operation === "update";
      for (const step of steps.filter(builds)) {
        const needed = steps.filter((other) => builds(other) && (step.refs ?? []).includes(other.address));
        expect(step.after).toEqual(expect.arrayContaining(needed.map((other) => other.key)));
      }
    });
  });

  it("lets no step wait for one that is blocked, unless it is blocked itself", () => {
    check(({ steps }) => {
      const blocked = new Set(steps.filter((step) => step.blocked.length > 0).map((step) => step.key));
      const caught = steps.filter(
        (step) => !blocked.has(step.key) && step.after.some((key) => blocked.has(key)),
      );
      expect(caught).toEqual([]);
    });
  });

  it("replaces what has another size, what it is told to, and what is being deleted: nothing else", () => {
    check((plan, scene, rest) => {
      for (const [name, action] of Object.entries(actions(plan))) {
        const { wants, has, phase, converging } = scene[name] ?? {};
        if (wants === undefined || has === undefined) continue;
        const resized =
          wants["size"] !== undefined && has["size"] !== undefined && wants["size"] !== has["size"];
        const asked = rest.options?.replace?.includes(`toys.${name}`) === true;
        const going =
          converging?.operation === "delete" && (phase === "pending" || phase === "waiting-for-person");
        expect([name, action.startsWith("replace")]).toEqual([name, resized || asked || going]);
      }
    });
  });

  it("destroys nothing that is protected, unless it is told to or is at it already", () => {
    check((plan, scene, rest) => {
      const open = plan.steps.filter((step) => step.operation === "delete" && step.blocked.length === 0);
      for (const { address } of open) {
        const { lifecycle, phase, converging } = scene[address.slice("toys.".length)] ?? {};
        const going =
          converging?.operation === "delete" && (phase === "pending" || phase === "waiting-for-person");
        expect(lifecycle?.protect !== true || going || rest.options?.allowDestroy?.includes(address)).toBe(
          true,
        );
      }
    });
  });

  it("is the same whatever the order of its input", () => {
    check((plan, scene, rest) => {
      const backwards = planOf(Object.fromEntries(Object.entries(scene).reverse()), rest);
      expect(stableJson(JSON.parse(JSON.stringify(backwards)))).toBe(
        stableJson(JSON.parse(JSON.stringify(plan))),
      );
    });
  });

  it("survives JSON, and holds no secret", () => {
    check((plan) => {
      const text = JSON.stringify(plan);
      expect(JSON.parse(text)).toEqual(plan);
      for (const secret of secrets) expect(text).not.toContain(secret);
    });
  });
});

describe("what is there as it is wanted", () => {
  it("is kept, whatever else may be set", () => {
    fc.assert(
      fc.property(fc.array(spec, { minLength: 1, maxLength: 6 }), rests, (specs, rest) => {
        const { replace: _none, ...options } = rest.options ?? {};
        const scene = Object.fromEntries(
          specs.map(({ power = "running", ...wants }, at): [string, Case] => {
            const { token: _hidden, ...has } = wants;
            const phase = power === "stopped" ? "stopped" : "ready";
            return [
              names[at] ?? "",
              { wants: { ...wants, power }, has, phase, recorded: { ...wants, power } },
            ];
          }),
        );
        const plan = planOf(scene, { ...rest, options: { ...options, targets: [] } });
        expect(new Set(Object.values(actions(plan)))).toEqual(new Set(["keep"]));
        expect(plan.steps).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });
});
