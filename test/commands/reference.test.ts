import { execFileSync } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { schemaNames } from "../../src/commands/reference.ts";
import { kinds } from "../../src/kinds/index.ts";
import { parseManifest } from "../../src/manifest/parse.ts";
import { pro } from "../platform/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Bench, startBench } from "./harness.ts";

const manifest = `apiVersion: graphform/v1
name: reference
instances:
  orders: { tier: pro, component: standalone, cloudProvider: aws, region: us-east-1 }
users:
  reader: { instance: orders, username: reader, password: "\${env.PW}", acl: "~* +PING" }
`;

describe("reference and self-check", () => {
  let bench: Bench;

  beforeAll(async () => {
    bench = await startBench(manifest);
    const id = await bench.test.create(pro, {
      nodeInstanceType: "m7g.large",
      graphdbUser: "app",
      graphdbPassword: "a-password-of-tests",
    });
    await bench.test.until(`${pro}/${id}`, "RUNNING");
    await bench.gf("import", "instances.orders", id);
  });
  afterAll(() => bench.close());

  it("explain knows every field of every kind, by its path and by its own name", async () => {
    const all: string[] = JSON.parse((await bench.bare("explain", "--json")).out);
    expect(all.length).toBeGreaterThan(40);
    const sections = new Set(all.map((field) => field.split(".")[0]));
    const expected = [...kinds.all.map((kind) => kind.name), "guards", "lifecycle", "forEach"];
    expect(expected.filter((name) => !sections.has(name))).toEqual([]);
    const facts = JSON.parse((await bench.bare("explain", "graphDBCacheSize", "--json")).out);
    expect(facts).toEqual([
      expect.objectContaining({
        bounds: "1 to 256",
        default: 25,
        parameter: "CACHE_SIZE",
        disruption: "data-loss",
        wire: expect.objectContaining({ "falkordb-cloud": "falkorDBCacheSize" }),
      }),
    ]);
    for (const field of all) expect((await bench.bare("explain", field)).code, field).toBe(0);
  });

  it.each([
    ["guards.maxDeletes", { key: "guards.maxDeletes", bounds: "0 to any" }],
    ["lifecycle.onReplace", { allowed: ["refuse", "recreate", "migrate"], default: "refuse" }],
    ["instances.orders.lifecycle.protect", { key: "lifecycle.protect", type: "boolean" }],
    ["variables.region.type", { key: "variables.*.type" }],
    ["variables.type", { key: "variables.*.type" }],
    ["moved", { keys: ["moved.from", "moved.to"] }],
    ["networks", { description: "Each network by name." }],
  ])("explain %s knows what is graphform's own", async (key, facts) => {
    const ran = await bench.bare("explain", key, "--json");
    expect(JSON.parse(ran.out)).toEqual([expect.objectContaining(facts)]);
  });

  it.each([
    [["explain", "maxMemry"], "did you mean maxMemory?"],
    [["explain", "config.graphdbPassord"], "did you mean config.graphdbPassword?"],
    [["schema", "manifst"], 'did you mean "manifest"?'],
    [["profile", "show", "nope.yaml"], "cannot read the profile"],
    [["state", "show", "instances.order"], "not-bound"],
  ])("%j: a mistake gets a hint and no stack trace", async (args, hint) => {
    const ran = args[0] === "state" ? await bench.gf(...args) : await bench.bare(...args);
    expect(ran.code).not.toBe(0);
    expect(ran.err).toContain(hint === "not-bound" ? "did you mean instances.orders?" : hint);
    expect(ran.err).not.toMatch(/\n\s+at /);
  });

  it.each(["instances.orders.config.name", 'instances.cache["eu.1"].config.name', "config.name"])(
    "explain knows %s, as drift names it",
    async (name) => {
      const facts = JSON.parse((await bench.bare("explain", name, "--json")).out);
      expect(facts).toContainEqual(expect.objectContaining({ field: "instances.config.name" }));
    },
  );

  it("the help of schema names all of them", async () => {
    const { out } = await bench.bare("schema", "--help");
    for (const name of schemaNames) expect(out).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it("schemas are JSON, and those of the files are the files", async () => {
    for (const name of ["manifest", "profile", "state", "plan", "events", "drift"]) {
      const text = (await bench.bare("schema", name)).out;
      expect(JSON.parse(text)["$schema"], name).toContain("draft-07");
    }
    expect((await bench.bare("schema", "manifest")).out).toBe(
      await readFile(join(import.meta.dirname, "../../schemas/manifest.schema.json"), "utf8"),
    );
  });

  it("profile list and show name what there is", async () => {
    expect((await bench.bare("profile", "list")).out).toMatch(/^falkordb-cloud +https/m);
    expect((await bench.bare("profile", "show", "falkordb-cloud")).out).toMatch(/instance\.update +PATCH/);
    expect(JSON.parse((await bench.bare("profile", "show", "--json")).out).name).toBe("default");
  });

  it("graph draws what refers to what", async () => {
    expect((await bench.gf("graph")).out).toBe(
      'flowchart LR\n  n0["instances.orders"]\n  n1["users.reader"]\n  n1 --> n0\n',
    );
    expect((await bench.gf("graph", "--dot")).out).toContain('"users.reader" -> "instances.orders";');
  });

  it("doctor says once that there is no manifest", async () => {
    const { out } = await bench.bare("--chdir", temporaryFolder("empty"), "doctor");
    expect(out.match(/there is no such file/g)).toHaveLength(1);
  });

  it("doctor says what is well, and what is not with its way out", async () => {
    const well = await bench.gf("doctor", "--json");
    const findings: { check: string; ok: boolean }[] = JSON.parse(well.out);
    expect(findings.filter(({ ok }) => !ok)).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual([
      "node",
      "manifest",
      "state",
      "state store",
      "service",
      "service credentials",
      "service clock",
      "service plans",
      "offered today",
      "users host",
      "local engine",
    ]);
    // A users host that refuses the request answers all the same.
    const refusal = { operation: "list-users", count: 1, fault: { status: 400 } };
    await bench.test.call("PUT", "/_platform/faults", [refusal]);
    const refused = await bench.gf("doctor");
    expect([refused.code, refused.out]).toEqual([
      0,
      expect.stringMatching(/users host: answers; it refused/),
    ]);
    const ill = await bench.gf("doctor", "--platform-url", "http://127.0.0.1:1");
    expect([ill.code, ill.out]).toEqual([1, expect.stringContaining("failed  service")]);
    expect(ill.out).not.toContain("a-password-of-tests");
  });

  it("state: list, mv, rm, pull without the key, unlock", async () => {
    const { key } = await bench.state();
    expect((await bench.gf("state", "list")).out).toMatch(/^instances\.orders +instance-/m);
    expect((await bench.gf("state", "mv", "instances.orders", "instances.shop")).code).toBe(0);
    expect((await bench.gf("state", "mv", "instances.shop", "users.shop")).code).toBe(1);
    expect((await bench.gf("state", "show", "instances.shop")).out).toContain("instances.shop (instance-");
    const pulled = (await bench.gf("state", "pull")).out;
    expect(JSON.parse(pulled).resources).toHaveLength(1);
    expect(pulled).not.toContain(String(key));
    expect((await bench.gf("state", "unlock")).out).toBe("The state is not locked.\n");
    expect((await bench.gf("state", "unlock", "none")).err).toContain("there is no lock none");
    expect((await bench.gf("state", "rm", "instances.shop")).code).toBe(0);
    expect((await bench.gf("state", "list")).out).toBe("The state has no resources.\n");
  });

  it("login keeps a session of mode 0600 that later commands use, and logout drops it", async () => {
    expect(await bench.gf("login")).toMatchObject({ code: 0 });
    const files = execFileSync("find", [join(bench.folder, "xdg"), "-type", "f"], { encoding: "utf8" })
      .trim()
      .split("\n");
    expect(files).toHaveLength(1);
    expect((await stat(files[0] ?? "")).mode & 0o777).toBe(0o600);
    expect(await readFile(files[0] ?? "", "utf8")).not.toContain(bench.test.password);
    expect((await bench.gf("snapshot", "list")).code).toBe(0);
    expect((await bench.gf("logout")).out).toContain("Signed out");
    expect((await bench.gf("logout")).out).toContain("No session is kept");
  });

  it("init writes a manifest that validates and a pipeline, and overwrites nothing", async () => {
    const file = join(bench.folder, "new.yaml");
    const program = join(inject("packaged"), "bin/graphform.js");
    const init = (...args: readonly string[]): string =>
      execFileSync(process.execPath, [program, "init", "-f", "new.yaml", ...args], {
        cwd: bench.folder,
        encoding: "utf8",
        stdio: "pipe",
      });
    expect(init("--ci", "gitlab")).toContain(".gitlab-ci.yml");
    expect((await bench.bare("validate", "-f", file)).code).toBe(0);
    const pipeline = {
      path: ".gitlab-ci.yml",
      text: await readFile(join(bench.folder, ".gitlab-ci.yml"), "utf8"),
    };
    expect(parseManifest([pipeline]).findings).toEqual([]);
    expect(() => init()).toThrow(/exists already/);
  });
});
