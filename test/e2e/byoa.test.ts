import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

let user: Workspace;
let platform: LocalPlatform;

beforeAll(async () => {
  user = openWorkspace();
  cpSync(join(import.meta.dirname, "..", "..", "examples", "byoa.yaml"), join(user.dir, "byoa.yaml"));
  user.env["DATABASE_PASSWORD"] = "database-password";
  platform = await platformUp(user);
});
afterAll(() => user.close());

const run = (...args: readonly string[]): ReturnType<Workspace["run"]> =>
  user.run(...args, "-f", "byoa.yaml", ...(args[0] === "output" ? [] : ["--profile", quickProfileFile]));

/** A person with the rights of the cloud account does what the instructions say. */
async function person(step: "bootstrap" | "offboard"): Promise<void> {
  const id = user.state("byoa").resources["cloudAccounts.own"]?.id ?? "";
  await platform.control("POST", `accounts/${id}/${step}`);
}

describe("a database in the customer's own cloud account", () => {
  it("waits for a person, who is told what to run", async () => {
    expect(await run("apply", "--auto-approve")).toMatchObject({ code: 8 });
    const told = await run("account", "bootstrap", "cloudAccounts.own");
    expect(told).toMatchObject({ code: 8, out: expect.stringContaining("bootstrap") });
    expect(user.state("byoa").resources["instances.vault"]).toBeUndefined();
  });

  it("comes up by itself in the next run after the person", async () => {
    await person("bootstrap");
    expect(await run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    const { out } = await run("output", "vault", "--raw");
    expect(await ask(out, { username: "app", password: "database-password" }, "PING")).toBe("PONG");
  });

  it("is given back with the person in between", async () => {
    user.write(
      "byoa.yaml",
      user
        .read("byoa.yaml")
        .replace("cloudAccount: own", "cloudAccount: own\n    lifecycle: { protect: false }"),
    );
    expect(await run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(await run("destroy", "--auto-approve")).toMatchObject({ code: 8 });
    await person("offboard");
    expect(await run("destroy", "--auto-approve")).toMatchObject({ code: 0 });
    expect(user.state("byoa")).toMatchObject({ resources: {}, intents: {} });
  });
});
