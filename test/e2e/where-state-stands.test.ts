import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { platformUp } from "../support/local-platform.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

const apply = ["apply", "--auto-approve"] as const;
const usual = ".graphform/placed.state.json";

let user: Workspace;
let service: FakeService;

beforeEach(async () => {
  user = openWorkspace();
  service = await FakeService.start();
  Object.assign(user.env, service.env, { PLACED_PASSWORD: "a-password-of-tests" });
});
afterEach(async () => {
  await user.close();
  await service.close();
});

function manifest(more = "", url = service.url): string {
  return `apiVersion: graphform/v1
name: placed
${url === "" ? "" : `service: { platformUrl: "${url}" }`}
${more}
instances:
  a:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: a, graphdbUser: app, graphdbPassword: "\${env.PLACED_PASSWORD}" }
`;
}

function states(): readonly string[] {
  return user.files().filter((file) => file.endsWith("state.json"));
}

describe("the state", () => {
  it("stands beside its manifest, wherever the command is run", async () => {
    user.write("sub/graphform.yaml", manifest());
    const inside = join(user.dir, "sub");
    expect(await user.run(...apply, "-f", "sub/graphform.yaml")).toMatchObject({ code: 0 });
    expect(states()).toEqual([`sub/${usual}`]);
    for (const file of [join(inside, "graphform.yaml"), "sub", "./sub/../sub/graphform.yaml"]) {
      expect(await user.run("plan", "--detailed-exitcode", "-f", file)).toMatchObject({ code: 0 });
    }
    expect(service.instances.size).toBe(1);
    expect(states()).toEqual([`sub/${usual}`]);
  });

  it("stands beside the first of several files", async () => {
    user.write("sub/base.yaml", manifest());
    user.write("over.yaml", "defaults: { instances: { lifecycle: { protect: false } } }\n");
    expect(await user.run(...apply, "-f", "sub/base.yaml", "-f", "over.yaml")).toMatchObject({ code: 0 });
    expect(states()).toEqual([`sub/${usual}`]);
  });

  it("beside a manifest is named if a link to it is applied, and not begun a second time there", async () => {
    user.write("sub/graphform.yaml", manifest());
    expect(await user.run(...apply, "-f", "sub/graphform.yaml")).toMatchObject({ code: 0 });
    symlinkSync(join("sub", "graphform.yaml"), join(user.dir, "link.yaml"));
    for (const command of [["plan"], apply]) {
      const { code, err } = await user.run(...command, "-f", "link.yaml");
      expect([code, err]).toEqual([
        1,
        expect.stringContaining("a second one would create everything once more"),
      ]);
      expect(err).toContain(`--state '${join(user.dir, "sub", usual)}'`);
    }
    expect([service.instances.size, states()]).toEqual([1, [`sub/${usual}`]]);
  });

  it("of an earlier version in the current folder is named and not begun a second time", async () => {
    user.write("sub/graphform.yaml", manifest());
    expect(await user.run(...apply, "-f", "sub/graphform.yaml")).toMatchObject({ code: 0 });
    mkdirSync(join(user.dir, ".graphform"));
    renameSync(join(user.dir, "sub", ".graphform", "placed.state.json"), join(user.dir, usual));
    renameSync(
      join(user.dir, "sub", ".graphform", "placed.state.json.backup"),
      join(user.dir, `${usual}.backup`),
    );
    for (const command of [["plan"], apply, ["show"], ["state", "list"], ["output"]]) {
      const ran = await user.run(...command, "-f", "sub/graphform.yaml");
      expect(ran, command.join(" ")).toMatchObject({ code: 1, out: "" });
      expect(ran.err).toMatch(
        /no state at sub\/\.graphform.*there is one at \.graphform\/placed[\s\S]*--state/,
      );
    }
    expect(service.instances.size).toBe(1);
    expect(
      await user.run("plan", "--detailed-exitcode", "-f", "sub/graphform.yaml", "--state", usual),
    ).toMatchObject({ code: 0 });
  });

  it("at a state.path counts from the current folder, and is not begun a second time from another one", async () => {
    user.write("sub/graphform.yaml", manifest("state: { path: kept.state.json }"));
    const ran = await user.run(...apply, "-f", "sub/graphform.yaml");
    expect(ran).toMatchObject({ code: 0 });
    expect(states()).toEqual(["kept.state.json"]);
    renameSync(join(user.dir, "kept.state.json"), join(user.dir, "sub", "kept.state.json"));
    renameSync(join(user.dir, "kept.state.json.backup"), join(user.dir, "sub", "kept.state.json.backup"));
    expect(await user.run(...apply, "-f", "sub/graphform.yaml")).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is one at sub/kept.state.json"),
    });
    expect(service.instances.size).toBe(1);
  });
});

describe("the local platform of a manifest", () => {
  it("is the one beside it where one was started there, otherwise that of the current folder", async () => {
    for (const name of Object.keys(service.env)) user.env[name] = undefined;
    user.write("sub/graphform.yaml", manifest("", ""));
    const up = ["platform", "up", "--detach", "--engine", "none", "--delay", "5"] as const;
    await platformUp(user, "--engine", "none", "--delay", "5");
    expect(await user.run(...apply, "-f", "sub/graphform.yaml")).toMatchObject({ code: 0 });
    const beside = join("sub", ".graphform", "platform");
    expect(await user.run(...up, "--data-dir", beside)).toMatchObject({ code: 0 });
    expect(await user.run("plan", "-f", "sub/graphform.yaml")).toMatchObject({
      code: 1,
      err: expect.stringContaining("belongs to another service"),
    });
    await user.run("platform", "down", "--data-dir", beside);
  });
});
