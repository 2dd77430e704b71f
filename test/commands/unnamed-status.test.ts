import { describe, expect, it } from "vitest";
import { type CloudBench, cloudBench } from "./cloud-bench.ts";
import type { Ran } from "./harness.ts";

const one = (name = "one"): string => `instances:
  one:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: ${name}, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`;
const told =
  /CHARGING, which the profile cloud does not name; once it is known, add under statuses: \{ CHARGING: ready \| stopped \| pending \| failed \}/;
const warned = new RegExp(`warning: instance-1 shows the status ${told.source}`);

/** Lets the next looks at the instance show a status that the profile does not name. */
function charging({ cloud }: CloudBench, looks: number): void {
  let left = looks;
  cloud.meddle = ({ method, url }) => {
    if (method !== "GET" || !/\/instance-1(\?|$)/.test(url)) return undefined;
    left -= 1;
    const status = left >= 0 ? "CHARGING" : "RUNNING";
    const [instance] = cloud.instances;
    if (instance !== undefined) cloud.instances[0] = { ...instance, shown: { ...instance.shown, status } };
    return undefined;
  };
}

/** A bench with a bound instance. */
async function bound(): Promise<CloudBench> {
  const bench = await cloudBench(one());
  const applied = await bench.gf("apply", "--auto-approve");
  expect(applied.code, applied.err).toBe(0);
  return bench;
}

async function updated(bench: CloudBench, ...more: readonly string[]): Promise<Ran> {
  await bench.manifest(one("other"));
  return bench.gf("apply", "--auto-approve", ...more);
}

const instance = { id: "instance-1", tier: "free", resource: "free" } as const;
const shown = { result_params: { name: "one", falkordbUser: "app" } };

describe("a status that the profile does not name is told with the line to add, at once and once", () => {
  const waits: readonly (readonly [string, (bench: CloudBench) => Promise<Ran>])[] = [
    ["an update", (bench) => updated(bench)],
    ["a restart", (bench) => bench.gf("instance", "restart", "instances.one")],
    ["a deletion", (bench) => bench.gf("destroy", "--auto-approve")],
    ["a stop", (bench) => bench.gf("instance", "stop", "instances.one", "--no-wait")],
  ];
  it.each(waits)("while %s waits for the bound instance", async (_, ask) => {
    const bench = await bound();
    charging(bench, 6);
    const { code, err } = await ask(bench);
    expect(err).toMatch(warned);
    expect(err.match(/warning: instance-1/g)).toHaveLength(1);
    expect(code, err).toBe(0);
  });

  it("while a create waits", async () => {
    const bench = await cloudBench(one());
    charging(bench, 3);
    const applied = await bench.gf("apply", "--auto-approve");
    expect(applied.code, applied.err).toBe(0);
    expect(applied.err).toMatch(warned);
  });

  it("in the end where the time is up", async () => {
    const bench = await bound();
    charging(bench, 1000);
    const ran = await updated(bench, "--timeout", "1s");
    expect(ran.code).toBe(7);
    expect(ran.out + ran.err).toMatch(
      new RegExp(`instance-1 is busy with something else: it is still ${told.source}`),
    );
  });

  it("in a plan", async () => {
    const bench = await bound();
    charging(bench, 1000);
    expect((await bench.gf("plan")).out.replace(/\s+/g, " ")).toMatch(told);
  });

  it("in imports of one and of everything", async () => {
    const bench = await cloudBench(one());
    bench.cloud.instances.push({ ...instance, shown: { ...shown, status: "CHARGING" } });
    charging(bench, 1000);
    expect((await bench.bare("import", "--all")).out).toMatch(new RegExp(`# its status is ${told.source}`));
    const bound = await bench.gf("import", "instances.one", "instance-1");
    expect(bound.code, bound.err).toBe(0);
    expect(bound.err).toMatch(new RegExp(`Its status is ${told.source}`));
  });
});
