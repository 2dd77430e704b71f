import { describe, expect, it } from "vitest";
import { type CloudBench, cloudBench, oneInstance } from "./cloud-bench.ts";
import { run } from "./harness.ts";

const database = `${oneInstance}    lifecycle: { protect: false }
`;
const entry = (id: string): string => `imports:\n  - { address: instances.a, id: ${id} }\n`;

/** A bench with an apply of the instance `a` behind it, and an instance of others. */
async function bench(applied = true): Promise<CloudBench> {
  const made = await cloudBench(database);
  const { cloud } = made;
  let isLost = false;
  if (!applied)
    cloud.meddle = ({ method, url }) => {
      isLost ||= method === "POST" && url.includes("/v1/prod/");
      return isLost ? { status: 403 } : undefined;
    };
  const ran = await made.gf("apply", "--auto-approve", "--no-probe");
  cloud.meddle = () => undefined;
  expect(ran.code, ran.out + ran.err).toBe(applied ? 0 : 1);
  const [first] = cloud.instances;
  cloud.instances.push({ id: "instance-other", tier: "free", resource: first?.resource ?? "free" });
  return made;
}

describe("an entry of `imports` for an address that has an object", () => {
  it("is an error at its place if it names another object that is there", async () => {
    const { gf, manifest } = await bench();
    await manifest(database + entry("instance-other"));
    for (const command of [["plan"], ["apply", "--auto-approve"], ["drift"]]) {
      const { code, out, err } = await gf(...command, "--no-probe");
      expect([code, out + err]).toEqual([
        3,
        expect.stringMatching(/graphform\.yaml:\d+:5: error: instances\.a is bound to instance-1 already/),
      ]);
    }
  });

  it("is an error if it names the object of another address that is left out, which would be deleted", async () => {
    const { gf, manifest, cloud } = await bench();
    const second = oneInstance.slice(oneInstance.indexOf("  a:")).replaceAll(/\ba\b/g, "b");
    await manifest(`${database}${second}    lifecycle: { protect: false }\n`);
    expect((await gf("apply", "--auto-approve", "--no-probe")).code).toBe(0);
    const there = cloud.instances.map(({ id }) => id);
    await manifest(database + entry(there.at(-1) ?? ""));
    const { code, out, err } = await gf("apply", "--auto-approve", "--no-probe");
    expect([code, out + err]).toEqual([
      3,
      expect.stringContaining("instances.a is bound to instance-1 already"),
    ]);
    expect(cloud.instances.map(({ id }) => id)).toEqual(there);
  });

  it("changes nothing if it names that object, or one that was there before a replacement", async () => {
    const { gf, manifest } = await bench();
    await manifest(database + entry("instance-1"));
    expect((await gf("plan", "--no-probe", "--detailed-exitcode")).code).toBe(0);
    expect((await gf("apply", "--no-probe", "--auto-approve", "--replace", "instances.a")).code).toBe(0);
    expect((await gf("plan", "--no-probe", "--detailed-exitcode")).code).toBe(0);
  });

  it("is an error while an earlier create is open, whose object is bound if there is one", async () => {
    const { gf, manifest, read, folder, env } = await bench(false);
    expect(JSON.parse(await read("state.json")).intents).toHaveProperty(["instances.a"]);
    expect((await gf("plan", "--no-probe")).out).toContain(
      "an earlier create was refused, which proves nothing",
    );
    await manifest(database + entry("instance-other"));
    const { code, out, err } = await gf("plan", "--no-probe");
    expect([code, out + err]).toEqual([3, expect.stringContaining("instances.a has an open create")]);
    const place = ["-f", `${folder}/graphform.yaml`, "--state", `${folder}/state.json`];
    const moved = await run(["state", "mv", "instances.a", "instances.b", ...place], env);
    expect([moved.code, moved.err]).toEqual([1, expect.stringContaining("instances.a has no object yet")]);
  });
});
