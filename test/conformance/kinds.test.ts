import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kinds } from "../../src/kinds/index.ts";
import { fieldRows } from "../../src/model/field-schema.ts";
import type { Spec } from "../../src/model/spec.ts";
import { type Bench, benches } from "./benches.ts";
import { cases, notInDefault } from "./cases.ts";
import { createReferents, type Referents, type Sample, samples } from "./samples.ts";

/** Cells that are not run, each with its reason. */
const left: readonly { readonly kind: string; readonly name: string; readonly reason: string }[] = [];

const run = new Set<string>();

describe.each(Object.entries(benches))("against %s", (service, start) => {
  describe.each(samples.map((sample) => [sample.kind.name, sample] as const))("%s", (kind, sample) => {
    let bench: Bench;
    let referents: Referents;
    beforeAll(async () => {
      bench = await start();
      referents = await createReferents(sample, bench.service);
      bench.calls.length = 0;
    });
    afterAll(() => bench.close());

    const wanted = Object.entries(cases).filter(
      ([name]) => !left.some((cell) => cell.kind === kind && cell.name === name),
    );
    it.each(wanted)("%s", async (name, check) => {
      const driver = sample.kind.driver(bench.service);
      await check({ bench, sample: fitted(sample, bench.service.profile.lacks), referents, driver });
      run.add(`${service}/${kind}/${name}`);
    });
  });
});

/** A sample without the settings that a service has not. */
function fitted(sample: Sample, lacks: readonly string[]): Sample {
  const isThere = ([path]: readonly [string, unknown]): boolean =>
    !lacks.some((name) => path === `config.${name}`);
  const specs = sample.specs.map(
    (make) =>
      (referents: Referents): Spec =>
        Object.fromEntries(Object.entries(make(referents)).filter(isThere)),
  );
  return { ...sample, specs };
}

describe("the suite itself", () => {
  const nowhere: Referents = { network: "n", configId: "c", instance: "i" };

  it("knows every kind", () => {
    expect(samples.map(({ kind }) => kind.name).sort()).toEqual(kinds.all.map(({ name }) => name).sort());
  });

  it.each(samples.map((sample) => [sample.kind.name, sample] as const))(
    "has a sample of every field of %s",
    (_name, sample) => {
      const declared = new Set(sample.specs.flatMap((make) => Object.keys(make(nowhere))));
      // Power is what verbs reach, and the id of a network is given by the service.
      const given: { readonly [kind: string]: readonly string[] } = {
        networks: ["id"],
        instances: [...notInDefault, "power"],
      };
      const others = given[sample.kind.name] ?? [];
      expect([...fieldRows(sample.kind.schema).keys()].filter((path) => !declared.has(path))).toEqual(others);
    },
  );

  const [services, count] = [Object.keys(benches).length, Object.keys(cases).length];
  it(`ran ${samples.length} kinds x ${count} cases x ${services} services = ${samples.length * count * services}, ${left.length} left out`, () => {
    expect(run.size).toBe((samples.length * count - left.length) * services);
    expect(left.filter(({ reason }) => reason.length < 20)).toEqual([]);
  });
});
