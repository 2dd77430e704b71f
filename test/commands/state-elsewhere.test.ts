import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cloudBench, oneInstance } from "./cloud-bench.ts";
import { run } from "./harness.ts";

/** A bench that was applied with the usual file, and the declaration of another place for its state. */
async function applied() {
  const bench = await cloudBench(oneInstance);
  const file = join(bench.folder, "graphform.yaml");
  const kept = join(bench.folder, "kept.json");
  const gf = (...args: readonly string[]) => bench.bare(...args, "-f", file, "--no-probe");
  expect(await gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
  const declareKept = () => bench.manifest(`state: { type: file, path: ${kept} }\n${oneInstance}`);
  return { bench, file, kept, gf, declareKept };
}

it("a manifest that names another place for its state makes nothing once more", async () => {
  const { bench, file, kept, gf, declareKept } = await applied();
  const usual = join(bench.folder, ".graphform", "shop.state.json");
  await declareKept();
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
  const { gf, declareKept } = await applied();
  expect(await gf("destroy", "--auto-approve")).toMatchObject({ code: 0 });
  await declareKept();
  expect(await gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
});

it("a manifest that was renamed makes nothing once more, and takes its state along", async () => {
  const bench = await cloudBench(oneInstance);
  mkdirSync(join(bench.folder, ".git"));
  const file = join(bench.folder, "graphform.yaml");
  const [old, fresh] = ["shop", "store"].map((name) =>
    join(bench.folder, ".graphform", `${name}.state.json`),
  );
  const gf = (...args: readonly string[]) => bench.bare(...args, "-f", file, "--no-probe");
  expect(await gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
  writeFileSync(file, readFileSync(file, "utf8").replace("name: shop", "name: store"));
  for (const command of [["plan"], ["apply", "--auto-approve"]]) {
    const { code, err } = await gf(...command);
    expect([code, err]).toEqual([1, expect.stringContaining("that of this manifest, which was named shop")]);
    expect(err).toContain(`graphform state migrate --state ${old} --to ${fresh}`);
  }
  const moving = ["state", "migrate", "-f", file, "--state", old ?? "", "--to", fresh ?? ""];
  expect(await run(moving, bench.env)).toMatchObject({ code: 0 });
  expect(await gf("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  expect(bench.cloud.instances).toHaveLength(1);
  // Another manifest beside it has a state of its own.
  const other = join(bench.folder, "other.yaml");
  writeFileSync(other, readFileSync(file, "utf8").replace("name: store", "name: other"));
  expect(await bench.bare("plan", "-f", other, "--no-probe")).toMatchObject({ code: 0 });
  const mistaken = ["state", "migrate", "-f", other, "--state", fresh ?? "", "--to", old ?? ""];
  expect((await run(mistaken, bench.env)).code).toBe(1);
});

it.each<[what: string, spoil: (file: string) => void, said: string]>([
  ["cannot be read", (file) => [rmSync(file), mkdirSync(file)], "could not be read"],
  ["is cut off", (file) => writeFileSync(file, readFileSync(file, "utf8").slice(0, 300)), "is not whole"],
  [
    "is that of a newer version",
    (file) => writeFileSync(file, readFileSync(file, "utf8").replace(/"version":\s*\d+/, '"version": 99')),
    "newer",
  ],
])("a usual file that %s may be in use", async (_, spoil, said) => {
  const { bench, gf, declareKept } = await applied();
  spoil(join(bench.folder, ".graphform", "shop.state.json"));
  await declareKept();
  const { code, err } = await gf("apply", "--auto-approve");
  expect([code, err]).toEqual([1, expect.stringContaining(said)]);
  expect(bench.cloud.instances).toHaveLength(1);
});

it("a usual file whose state was moved names the place that has it", async () => {
  const { bench, file, kept, gf, declareKept } = await applied();
  const usual = join(bench.folder, ".graphform", "shop.state.json");
  await declareKept();
  const moving = ["state", "migrate", "-f", file, "--state", usual, "--to", kept];
  expect(await run(moving, bench.env)).toMatchObject({ code: 0 });
  await bench.manifest(`state: { type: file, path: ${kept}x.json }\n${oneInstance}`);
  const { code, err } = await gf("apply", "--auto-approve");
  expect([code, err]).toEqual([1, expect.stringContaining(`was moved to ${kept}`)]);
  expect(err).toContain("--state");
  rmSync(kept);
  const another = await gf("apply", "--auto-approve");
  expect(another.err).toContain("no such file is on this machine");
  // A state at that path would begin with nothing, and everything would be made again.
  expect(another.err).not.toContain("--state");
});
