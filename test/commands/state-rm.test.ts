import { describe, expect, it } from "vitest";
import { readPlan } from "../support/plan-document.ts";
import { cloudBench } from "./cloud-bench.ts";
import { type Ran, run } from "./harness.ts";

const database = (name: string): string => `  ${name}:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: ${name}, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`;
const user = (name: string, on: string): string =>
  `  ${name}: { instance: ${on}, username: ${name}, password: "\${secret.pw}", acl: "~* +PING" }\n`;

describe("`state rm` of an object that others are inside of", () => {
  it("takes them along and says so, and the next apply leaves their objects as they are", async () => {
    const bench = await cloudBench(
      `instances:\n${database("a")}${database("b")}    lifecycle: { dependsOn: [instances.a] }\nusers:\n${user("reader", "a")}${user("writer", "b")}`,
    );
    const { cloud, gf } = bench;
    const ran = await gf("apply", "--auto-approve", "--no-probe");
    expect(ran.code, ran.out + ran.err).toBe(0);
    const state = (...args: readonly string[]): Promise<Ran> =>
      run(
        ["state", ...args, "-f", `${bench.folder}/graphform.yaml`, "--state", `${bench.folder}/state.json`],
        bench.env,
      );
    const [{ id }] = JSON.parse((await state("list", "--json")).out);
    const stored = await bench.read("state.json");

    const dry = await state("rm", "instances.a", "--dry-run");
    expect([dry.code, dry.out.split("\n")]).toEqual([
      0,
      [
        `instances.a would be removed from the state; ${id} stays as it is.`,
        `users.reader, inside of instances.a, would be removed from the state; ${id}/reader stays as it is.`,
        `instances.b refers to instances.a; if that is to stay in use, bind it before the next apply: graphform import instances.a ${id}`,
        "",
      ],
    ]);
    expect(await bench.read("state.json")).toBe(stored);

    const removed = await state("rm", "instances.a", "--json");
    expect(JSON.parse(removed.out)).toEqual({
      dryRun: false,
      removed: [
        { address: "instances.a", kind: "instances", id },
        { address: "users.reader", kind: "users", id: `${id}/reader` },
      ],
      referring: ["instances.b"],
    });
    const { resource_changes: changes } = readPlan((await gf("plan", "--no-probe", "--json")).out);
    expect(changes.map(({ address, change }) => `${address} ${change.actions.join(" ")}`)).toEqual([
      "instances.a create",
      "instances.b no-op",
      "users.reader create",
      "users.writer no-op",
    ]);
    expect((await gf("plan", "--no-probe")).out).not.toMatch(/replaced|outside/);
    const deleted: string[] = [];
    cloud.meddle = ({ method, url }) => {
      if (method === "DELETE") deleted.push(url);
      return undefined;
    };
    await gf("apply", "--auto-approve", "--no-probe");
    expect([deleted, cloud.users.get(id)?.map(({ username }) => username)]).toEqual([[], ["reader"]]);
  });
});
