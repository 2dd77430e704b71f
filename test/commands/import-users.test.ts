import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, startBench } from "./harness.ts";

const database = (name: string): string =>
  `  ${name}: { tier: free, component: free, cloudProvider: aws, region: us-east-1, config: { name: ${name}, graphdbUser: app, graphdbPassword: "\${env.PW}" } }\n`;
const user = (key: string, instance: string): string =>
  `  ${key}: { instance: ${instance}, username: reader, password: "\${env.PW}", acl: "~* +PING" }\n`;
const manifest = `apiVersion: graphform/v1\nname: namesakes\ninstances:\n${database("one")}${database("two")}users:\n${user("first", "one")}${user("second", "two")}`;

describe("users of one name on two instances", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench(manifest);
    expect((await bench.gf("apply", "--auto-approve")).code).toBe(0);
  });
  afterAll(() => bench.close());

  it("are bound by their name, each to its own, and are not taken for each other", async () => {
    for (const address of ["users.first", "users.second"]) {
      expect((await bench.gf("state", "rm", address)).code).toBe(0);
      const ran = await bench.gf("import", address, "reader");
      expect([ran.code, ran.out]).toEqual([0, expect.stringContaining(`${address} is bound to`)]);
    }
    expect((await bench.gf("import", "users.first", "reader")).err).toContain("users.first is bound to");
    expect((await bench.gf("plan", "--no-probe")).out).toContain("4 declared, 4 checked, 0 unmanaged");
    expect((await bench.gf("plan", "--detailed-exitcode")).code).toBe(0);
  });

  it("are counted once where nobody declares them, however many others are declared beside them", async () => {
    expect((await bench.gf("state", "rm", "users.second")).code).toBe(0);
    await bench.write(
      "graphform.yaml",
      manifest.replace(
        user("second", "two"),
        `  a: { instance: two, username: other-a, password: "\${env.PW}", acl: "~* +PING" }\n  b: { instance: two, username: other-b, password: "\${env.PW}", acl: "~* +PING" }\n`,
      ),
    );
    expect((await bench.gf("apply", "--auto-approve")).code).toBe(0);
    expect((await bench.gf("plan", "--no-probe")).out).toContain("5 declared, 5 checked, 1 unmanaged");
  });

  it("are not bound a second time, whatever they are called", async () => {
    const again = manifest.replace(user("first", "one"), user("twin", "one"));
    await bench.write("graphform.yaml", again);
    const ran = await bench.gf("import", "users.twin", "reader");
    expect([ran.code, ran.err]).toEqual([
      1,
      expect.stringMatching(/reader is bound to users\.first already/),
    ]);
  });
});
