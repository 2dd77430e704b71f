import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  apply,
  drift,
  formatDrift,
  formatPlan,
  formatProblems,
  loadManifest,
  openService,
  openState,
  plan,
  readPlan,
  validate,
} from "../src/index.ts";
import { FakeService } from "./support/fake-service.ts";
import { openWorkspace, type Workspace } from "./support/workspace.ts";

/** What the examples import. */
const library = {
  apply,
  drift,
  formatDrift,
  formatPlan,
  formatProblems,
  loadManifest,
  openService,
  openState,
  plan,
  readPlan,
  validate,
};

const root = join(import.meta.dirname, "..");
const password = "a-password-of-tests";

let user: Workspace;
let service: FakeService;

beforeEach(async () => {
  user = openWorkspace();
  service = await FakeService.start();
});
afterEach(async () => {
  await user.close();
  await service.close();
});

function write(tier: "free" | "basic" = "free", description = "first"): string {
  const file = join(user.dir, "graphform.yaml");
  writeFileSync(
    file,
    `apiVersion: graphform/v1
name: shop
service: { platformUrl: "${service.url}" }
secrets: { pw: { env: SHOP_PASSWORD } }
instances:
  cache:
    tier: ${tier}
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: cache, description: ${description}, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`,
  );
  return file;
}

describe("from a program", () => {
  it("runs every example of the documentation, one after the other", async () => {
    write();
    const page = readFileSync(join(root, "docs", "library.md"), "utf8");
    const examples = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = ""]) => code);
    for (const [name, value] of Object.entries({ ...service.env, SHOP_PASSWORD: password }))
      vi.stubEnv(name, value);
    const run = async (code: string): Promise<readonly unknown[]> => {
      const lines: unknown[] = [];
      const body = code.replaceAll(/^import (\{[^}]*\}) from "graphform";$/gm, "const $1 = library;");
      const example = new Function("library", "console", `return (async () => { ${body} })();`);
      const before = process.cwd();
      // Whatever runs in the user's folder is ended with it.
      process.chdir(user.dir);
      await example(library, {
        log: (...words: unknown[]) => lines.push(words.length === 1 ? words[0] : words),
      }).finally(() => process.chdir(before));
      return lines;
    };
    const [first = "", objects = "", reports = "", saved = "", ...more] = examples;
    expect(more).toEqual([]);
    expect(await run(first)).toEqual([["create", "instances.cache"], 0]);
    expect(await run(first)).toEqual([0]);
    expect(await run(objects)).toEqual(["made", [expect.stringContaining('"region" is missing')]]);
    // This service refuses the lists of users.
    expect(await run(reports)).toEqual([[0, "Drift of shop (incomplete)"], true, ""]);
    write("free", "changed");
    expect(await run(saved)).toEqual([expect.stringContaining("shop"), [1, 0]]);
    // The databases of a reader who runs the page are there after it.
    expect(page).not.toContain("destroying: true");
    expect(service.instances.size).toBe(1);
  });

  it("reads no file of the folder for an empty list of objects", async () => {
    await expect(loadManifest({ objects: [] })).rejects.toMatchObject({ code: "no-objects" });
  });

  it("formats a plan and a report of drift in every way, without the secret in any", async () => {
    const manifest = await loadManifest({ files: [write()] });
    const env = { ...service.env, SHOP_PASSWORD: password };
    const opened = await openService(manifest, { env });
    const request = { manifest, service: opened, state: openState(manifest) };
    const shown = await plan(request);
    await expect(drift(request)).rejects.toMatchObject({ code: "state-missing" });
    await apply({ ...request, approve: () => true });
    const report = await drift(request);
    await opened.close();
    const texts = [
      ...(await Promise.all(
        (["text", "json", "markdown", "html", "sarif"] as const).map((format) => formatPlan(shown, format)),
      )),
      ...(await Promise.all(
        (["text", "json", "markdown", "html", "sarif", "junit", "prometheus"] as const).map((format) =>
          formatDrift(report, format),
        ),
      )),
    ];
    for (const written of texts) {
      expect(written.length).toBeGreaterThan(20);
      expect(written).not.toContain(password);
    }
    expect(await formatPlan(shown, "text", { width: 60 })).not.toBe(texts[0]);
  });

  it("applies a saved plan once, and the command line takes it too", async () => {
    const manifest = await loadManifest({ files: [write()] });
    const env = { ...service.env, SHOP_PASSWORD: password };
    const opened = await openService(manifest, { env });
    const request = { manifest, service: opened, state: openState(manifest) };
    const file = join(user.dir, "shop.plan");
    const made = await plan({ ...request, out: file });
    expect((await readPlan(file)).fingerprint).toBe(made.fingerprint);
    expect((await user.run("show", "shop.plan")).out).toContain("instances.cache");
    const applying = { ...request, planFile: file, approve: () => true };
    expect(await apply(applying)).toMatchObject({ exitCode: 0, added: 1 });
    await expect(apply(applying)).rejects.toMatchObject({ code: "plan-stale", exitCode: 6 });
    await opened.close();
  });

  it("changes nothing where the plan is not approved", async () => {
    const manifest = await loadManifest({ files: [write()] });
    const state = openState(manifest);
    const opened = await openService(manifest, {
      env: { ...service.env, SHOP_PASSWORD: password },
    });
    const outcome = await apply({ manifest, state, service: opened, approve: () => false });
    await opened.close();
    expect(outcome).toBeUndefined();
    expect(service.requests.filter(({ operation }) => operation === "create")).toEqual([]);
  });

  it("tells every problem of a manifest, with its place", async () => {
    const [problem] = await validate({ files: [write("basic")] });
    expect(problem).toMatchObject({ severity: "error", range: { start: { line: 7 } } });
  });

  it("tells of a profile that cannot be read, or is none, at the line that names it, and throws nothing", async () => {
    const file = write();
    const text = readFileSync(file, "utf8");
    const none = join(user.dir, "none.yaml");
    writeFileSync(none, "name: 1\n");
    for (const [path, code] of [
      [join(user.dir, "not-there.yaml"), "profile-unreadable"],
      [none, "profile-invalid"],
    ]) {
      writeFileSync(file, text.replace("service: {", `service: { profile: ${path},`));
      const range = { file, start: { line: 3, column: 21 } };
      expect(await validate({ files: [file] })).toMatchObject([{ severity: "error", code, range }]);
    }
  });

  it("keeps the secret of a command out of what the service repeats", async () => {
    const file = write();
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(
        "{ env: SHOP_PASSWORD }",
        '{ command: { run: ["printenv", "TOLD"], env: ["TOLD"] } }',
      ),
    );
    const manifest = await loadManifest({ files: [file] });
    const opened = await openService(manifest, {
      env: { ...service.env, PATH: process.env["PATH"], TOLD: password },
    });
    service.misbehave = ({ operation }) =>
      operation === "create"
        ? { status: 400, body: JSON.stringify({ name: "bad_request", message: `bad value ${password}` }) }
        : undefined;
    const outcome = await apply({
      manifest,
      state: openState(manifest),
      service: opened,
      approve: () => true,
    });
    await opened.close();
    expect(JSON.stringify(outcome)).not.toContain(password);
    expect(outcome?.exitCode).toBe(1);
  });
});
