import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

let service: FakeService;
let user: Workspace;

beforeAll(async () => {
  service = await FakeService.start();
});

beforeEach(() => {
  service.behave();
  service.instances.clear();
  user = openWorkspace(manifest());
  Object.assign(user.env, service.env);
});
afterEach(() => user.close());
afterAll(() => service.close());

const names = ["a", "b", "c", "d", "e"];
const apply = ["apply", "--auto-approve"] as const;

/** Five instances of two classes. */
function manifest({ region = "us-east-1", lifecycle = "" } = {}): string {
  const block = (name: string, at: number): string =>
    `  ${name}: { tier: pro, component: ${at % 2 === 0 ? "standalone" : "single-zone"}, cloudProvider: aws, region: ${region}, ${lifecycle}config: { name: ${name}, description: words, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: a-password-of-some-length } }\n`;
  return `${head()}instances:\n${names.map(block).join("")}`;
}

function head(): string {
  return `apiVersion: graphform/v1\nname: many\nservice: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }\n`;
}

describe("a protected instance", () => {
  it.each<[words: string, prepare: () => readonly string[], lifecycle?: string]>([
    [
      "survives the end of its block",
      () => {
        user.write("graphform.yaml", manifest().replace(/ {2}a: .*\n/, ""));
        return apply;
      },
    ],
    [
      "survives an empty file",
      () => {
        user.write("graphform.yaml", head());
        return apply;
      },
    ],
    ["survives destroy", () => ["destroy", "--auto-approve"]],
    [
      "survives destroy, protected by a manifest that was not applied",
      () => {
        user.write("graphform.yaml", manifest());
        return ["destroy", "--auto-approve"];
      },
      "lifecycle: { protect: false }, ",
    ],
    [
      "survives a replacement, allowed as it is",
      () => {
        const lifecycle = "lifecycle: { protect: true, onReplace: recreate }, ";
        user.write("graphform.yaml", manifest({ region: "eu-west-1", lifecycle }));
        return [...apply, "--replace", "instances.a"];
      },
    ],
    [
      "survives another name of its block",
      () => {
        user.write("graphform.yaml", manifest().replace("  a: {", "  z: {").replace("name: a,", "name: z,"));
        return apply;
      },
    ],
  ])("%s", async (_, prepare, lifecycle = "") => {
    user.write("graphform.yaml", manifest({ lifecycle }));
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    const before = [...service.instances.keys()];
    const command = prepare();
    service.forget();
    expect((await user.run(...command)).code).toBe(4);
    expect([...service.instances.keys()]).toEqual(expect.arrayContaining(before));
    expect(service.writes().filter(({ operation }) => operation === "delete")).toEqual([]);
  });

  it("is not made a second time where the state was lost, and its previous version was not", async () => {
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    const state = ".graphform/many.state.json";
    rmSync(join(user.dir, state));
    for (const command of [apply, ["plan"], ["destroy", "--auto-approve"]])
      expect(await user.run(...command)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`cp '${state}.backup'`),
      });
    expect(service.instances.size).toBe(5);
    copyFileSync(join(user.dir, `${state}.backup`), join(user.dir, state));
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
  });
});
