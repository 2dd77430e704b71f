import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apply, loadManifest, openService, openState, plan, validate } from "../src/index.ts";
import { FakeService } from "./support/fake-service.ts";
import { openWorkspace, type Workspace } from "./support/workspace.ts";

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

function write(tier: "free" | "basic" = "free"): string {
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
    config: { name: cache, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`,
  );
  return file;
}

describe("from a program", () => {
  it("runs the example of the documentation: the plan that was shown is carried out, and the next one is empty", async () => {
    write();
    const [, code = ""] =
      /```js\n([\s\S]*?)```/.exec(readFileSync(join(root, "docs", "library.md"), "utf8")) ?? [];
    const body = code
      .replace(/^import .*$/m, "")
      .replace("await openService(manifest)", "await openService(manifest, { env })");
    const lines: unknown[][] = [];
    const run = async (): Promise<void> => {
      lines.length = 0;
      const example = new Function(
        ...["library", "env", "console", "dir"],
        `return (async () => { const { apply, loadManifest, openService, openState, plan } = library;
        ${body.replace('["graphform.yaml"]', '[dir + "/graphform.yaml"]')} })();`,
      );
      const env = { ...service.env, SHOP_PASSWORD: password };
      await example(
        { apply, loadManifest, openService, openState, plan },
        env,
        { log: (...words: unknown[]) => lines.push(words) },
        user.dir,
      );
    };
    await run();
    expect(lines).toEqual([["create", "instances.cache"], [0]]);
    await run();
    expect(lines).toEqual([[0]]);
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
