import { describe, expect, it } from "vitest";
import { type CloudBench, cloudBench } from "./cloud-bench.ts";
import { run } from "./harness.ts";

const then = "2026-01-01T00:00:00Z";
const now = "2026-03-03T00:00:00Z";

const manifest = (description: string): string => `instances:
${["one", "two"]
  .map(
    (name) => `  ${name}:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    lifecycle: { protect: false }
    config: { name: ${name}, description: ${description}, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`,
  )
  .join("")}users:
  reader: { instance: one, username: reader, password: "\${secret.pw}", acl: "~* +PING" }
`;

const plain = (text: string): string => text.replace(/\s+/g, " ");

/** Two databases that were applied. */
async function applied(): Promise<CloudBench> {
  const bench = await cloudBench(manifest("before"));
  const ran = await bench.gf("apply", "--auto-approve");
  expect(ran.code, ran.out + ran.err).toBe(0);
  return bench;
}

/** The service shows the first id with another time of its creation from now on. */
function swap({ cloud }: CloudBench): void {
  const [first] = cloud.instances;
  if (first === undefined) throw new Error("there is no database");
  cloud.instances[0] = { ...first, shown: { ...first.shown, created_at: now } };
}

async function swapped(): Promise<CloudBench> {
  const bench = await applied();
  swap(bench);
  return bench;
}

const descriptionsOf = ({ cloud }: CloudBench): readonly (string | undefined)[] =>
  cloud.instances.map(({ shown }) => /before|after/.exec(JSON.stringify(shown))?.[0]);

describe("a database that shows another time of its creation under the bound id", () => {
  it("is refused with both times and the ways on; apply ends with exit 4 and goes on with the others", async () => {
    const bench = await swapped();
    await bench.manifest(manifest("after"));
    const plan = plain((await bench.gf("plan")).out);
    for (const part of [
      `it was created at ${now}, and that one at ${then}`,
      "graphform state rm instances.one",
      "graphform import instances.one instance-1",
    ])
      expect(plan).toContain(part);
    const apply = await bench.gf("apply", "--auto-approve");
    expect(apply.code, apply.out + apply.err).toBe(4);
    expect(descriptionsOf(bench)).toEqual(["before", "after"]);
  });

  it("is held back in a plan that was saved before", async () => {
    const bench = await applied();
    await bench.manifest(manifest("after"));
    expect((await bench.gf("plan", "--out", `${bench.folder}/saved.plan`)).code).toBe(0);
    swap(bench);
    const apply = await bench.gf("apply", `${bench.folder}/saved.plan`);
    expect(apply.code, apply.out + apply.err).toBe(4);
    expect(plain(apply.out + apply.err)).toContain(`it was created at ${now}, and that one at ${then}`);
    expect(descriptionsOf(bench)).toEqual(["before", "after"]);
  });

  it("is named by drift, which proves nothing of it", async () => {
    const bench = await swapped();
    const drift = await bench.gf("drift");
    expect(plain(drift.out)).toContain(`it was created at ${now}, and that one at ${then}`);
    const report = JSON.parse((await bench.gf("drift", "--json")).out);
    expect(report.complete).toBe(false);
    const adopt = await bench.gf("drift", "--adopt", "instances.one");
    expect(adopt.code).toBe(1);
    expect(plain(adopt.err)).toContain(`it was created at ${now}, and that one at ${then}`);
    expect(plain(adopt.err)).toContain("graphform import instances.one instance-1");
    expect(adopt.err).not.toMatch(/deleted outside|empty one/);
  });

  it("is managed again once its entry was removed and it was imported", async () => {
    const bench = await swapped();
    const state = `${bench.folder}/state.json`;
    for (const address of ["users.reader", "instances.one"]) {
      const ran = await run(
        ["state", "rm", address, "-f", `${bench.folder}/graphform.yaml`, "--state", state],
        bench.env,
      );
      expect(ran.code, ran.err).toBe(0);
    }
    for (const [address, id] of [
      ["instances.one", "instance-1"],
      ["users.reader", "reader"],
    ] as const) {
      const imported = await bench.gf("import", address, id);
      expect(imported.code, imported.out + imported.err).toBe(0);
    }
    await bench.manifest(manifest("after"));
    const apply = await bench.gf("apply", "--auto-approve");
    expect(apply.code, apply.out + apply.err).toBe(0);
    expect(JSON.parse(await bench.read("state.json")).resources["instances.one"].shownCreatedAt).toBe(now);
  });
});
