import { join } from "node:path";
import { expect, it } from "vitest";
import { cloudBench } from "./cloud-bench.ts";
import { run } from "./harness.ts";

const database = `instances:
  a:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: a, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`;

it("a manifest that names another place for its state makes nothing once more", async () => {
  const bench = await cloudBench(database);
  const file = join(bench.folder, "graphform.yaml");
  const kept = join(bench.folder, "kept.json");
  const gf = (...args: readonly string[]) => bench.bare(...args, "-f", file, "--no-probe");
  expect(await gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
  const usual = join(bench.folder, ".graphform", "shop.state.json");
  await bench.manifest(`state: { type: file, path: ${kept} }\n${database}`);
  for (const command of [["plan"], ["apply", "--auto-approve"]]) {
    const { code, err } = await gf(...command);
    expect(code).toBe(1);
    expect(err).toContain(`no state at ${kept}, and there is one at ${usual}`);
    expect(err).toContain(`graphform state migrate --state '${usual}' --to '${kept}'`);
  }
  expect(await gf("plan", "--state", usual)).toMatchObject({ code: 0 });
  const moving = ["state", "migrate", "-f", file, "--state", usual, "--to", kept];
  expect(await run(moving, bench.env)).toMatchObject({ code: 0 });
  expect(await gf("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
});

it("a usual file that binds nothing is no state in use", async () => {
  const bench = await cloudBench(database);
  const file = join(bench.folder, "graphform.yaml");
  const kept = join(bench.folder, "kept.json");
  const gf = (...args: readonly string[]) => bench.bare(...args, "-f", file, "--no-probe");
  expect(await gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
  expect(await gf("destroy", "--auto-approve")).toMatchObject({ code: 0 });
  await bench.manifest(`state: { type: file, path: ${kept} }\n${database}`);
  expect(await gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
});
