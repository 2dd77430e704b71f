import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { quickProfile } from "../support/quick-profile.ts";
import { type Bench, startBench } from "./harness.ts";

const keys = ["\u202eeu", "it's", 'a "b" \\ $(id) `id`', "\u{e0041}\u200d", "*", "x".repeat(50)];

const manifest = (members: readonly string[]): string => `apiVersion: graphform/v1
name: typed
defaults: { instances: { cloudProvider: aws, region: us-east-1, lifecycle: { protect: true } } }
instances:
  cache:
    forEach: ${JSON.stringify(members)}
    tier: free
    component: free
    config: { graphdbUser: app, graphdbPassword: "\${env.PW}" }
`;

/** A command line as a shell splits it into words. */
function wordsOf(line: string): readonly string[] {
  return execFileSync("sh", ["-c", `printf '%s\\n' ${line}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
}

describe("an address with a key of any characters", () => {
  let bench: Bench;
  let profile = "";
  beforeAll(async () => {
    bench = await startBench(manifest(keys));
    profile = await bench.write("quick.yaml", quickProfile);
    const applied = await bench.gf("apply", "--auto-approve", "--profile", profile);
    expect(applied.code, applied.err).toBe(0);
  });
  afterAll(() => bench.close());

  it("is taken as the way out of a guard prints it", async () => {
    await bench.write("graphform.yaml", manifest(["other"]));
    const { out } = await bench.gf("plan", "--profile", profile);
    expect(out).toContain("way out: --allow-destroy ADDRESS\n");
    const printed = [...out.matchAll(/^ +· (\S.*) \(instance-/gm)].map(([, address = ""]) => address);
    expect(printed).toHaveLength(keys.length);
    const allowed = printed.flatMap((address) => ["--allow-destroy", address]);
    const lifted = await bench.gf("plan", "--json", "--profile", profile, ...allowed);
    expect(lifted.code, lifted.err).toBe(0);
    expect(lifted.out).not.toContain('"blocked":[{');
    const text = await bench.gf("plan", "--profile", profile, ...allowed);
    expect(text.out).not.toContain("way out");
    expect(text.out).toContain(`${keys.length} to destroy`);
  });

  it("is taken as the way out of one guard prints it, through a shell", async () => {
    for (const key of keys) {
      await bench.write("graphform.yaml", manifest(keys.filter((other) => other !== key)));
      const { out } = await bench.gf("plan", "--profile", profile);
      const [, lift = ""] = /way out: (--allow-destroy .*?)$/m.exec(out) ?? [];
      const lifted = await bench.gf("plan", "--profile", profile, ...wordsOf(lift));
      expect(lifted.err).not.toContain("error");
      expect(lifted.out).toContain("Plan: 0 to add, 0 to change, 1 to destroy.");
    }
  });

  it("is taken as the list of the state prints it", async () => {
    const { out } = await bench.gf("state", "list");
    const printed = [...out.matchAll(/^(instances\.cache\[".*"\]) /gm)].map(([, address = ""]) => address);
    expect(printed).toHaveLength(keys.length);
    for (const address of printed) {
      const shown = await bench.gf("state", "show", address);
      expect(shown.err).toBe("");
    }
  });
});
