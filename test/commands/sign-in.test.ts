import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Bench, startBench } from "./harness.ts";

const manifest = `apiVersion: graphform/v1
name: signs
instances:
  orders:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: orders, graphdbUser: app, graphdbPassword: "\${env.PW}" }
users:
  reader: { instance: orders, username: reader, password: "\${env.PW}", acl: "~* +PING" }
`;

let bench: Bench;

beforeEach(async () => {
  bench = await startBench(manifest);
});
afterEach(() => bench.close());

/** The text of the one session that is kept. */
async function kept(): Promise<string> {
  const found = execFileSync("find", [join(bench.folder, "xdg"), "-name", "*.json"], { encoding: "utf8" });
  return readFile(found.trim(), "utf8");
}

describe("signing in", () => {
  it("credentials of the environment win over a kept session, in every command", async () => {
    expect((await bench.gf("login")).code).toBe(0);
    bench.env["GRAPHFORM_PASSWORD"] = "a-wrong-one";
    for (const command of [
      ["plan"],
      ["snapshot", "list"],
      ["apply", "--auto-approve"],
      ["import", "--all"],
    ]) {
      const ran = await bench.gf(...command);
      expect(ran, command.join(" ")).toMatchObject({
        code: 1,
        err: expect.stringContaining("does not accept this user name with this password"),
      });
    }
    for (const name of ["GRAPHFORM_USERNAME", "GRAPHFORM_PASSWORD"]) bench.env[name] = undefined;
    expect((await bench.gf("plan")).code).toBe(0);
  });

  it("login with a wrong password fails whatever is kept, and leaves that as it was", async () => {
    expect((await bench.gf("login")).code).toBe(0);
    const before = await kept();
    bench.env["GRAPHFORM_PASSWORD"] = "a-wrong-one";
    const ran = await bench.gf("login");
    expect(ran).toMatchObject({ code: 1, out: "", err: expect.stringContaining("does not accept") });
    expect(await kept()).toBe(before);
  });

  it("login signs in anew where a session is kept already", async () => {
    await bench.gf("login");
    const before = await kept();
    await bench.gf("login");
    expect(await kept()).not.toBe(before);
  });

  it("logout ends the session at the service, not only here", async () => {
    await bench.gf("login");
    const { tokens }: { tokens: { token: string } } = JSON.parse(await kept());
    const plans = (): Promise<{ status: number }> =>
      bench.test.bare("GET", "/2022-09-01-00/service-offering", undefined, {
        cookie: `svc_token=${tokens.token}`,
      });
    expect((await plans()).status).toBe(200);
    expect((await bench.gf("logout")).out).toContain("Signed out");
    const refreshed = readFileSync(join(bench.test.dataDir, "requests.jsonl"), "utf8");
    expect(refreshed).toContain("/2022-09-01-00/logout");
  });

  it.each([["GRAPHFORM_USERNAME"], ["GRAPHFORM_PASSWORD"]])(
    "%s alone is not enough, and not ignored",
    async (name) => {
      await bench.gf("login");
      bench.env[name] = undefined;
      const ran = await bench.gf("plan");
      expect(ran).toMatchObject({ code: 1, err: expect.stringContaining(`and ${name} is not`) });
    },
  );

  it("settings that are empty, as pipelines leave them, are not set", async () => {
    Object.assign(bench.env, { GRAPHFORM_USERS_URL: "", GRAPHFORM_TOKEN: "", GRAPHFORM_CA_FILE: "" });
    expect((await bench.gf("plan")).code).toBe(0);
  });

  it("the platform named anew does not leave the users host where it was", async () => {
    const users = 'service: { platformUrl: "https://p.example.com", usersUrl: "https://u.example.com" }\n';
    await bench.write("graphform.yaml", manifest.replace("instances:", `${users}instances:`));
    const ran = await bench.gf("apply", "--auto-approve");
    expect(ran).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /the environment names another platform host.*u\.example\.com from the manifest/,
      ),
    });
    expect((await bench.gf("login")).code).toBe(1);
    bench.env["GRAPHFORM_USERS_URL"] = bench.test.platform.usersUrl;
    expect((await bench.gf("plan")).code).toBe(0);
  });
});

describe("GRAPHFORM_TOKEN_COMMAND", () => {
  const token = (): string => bench.test.token();

  beforeEach(async () => {
    Object.assign(bench.env, { THE_TOKEN: token(), GRAPHFORM_TOKEN_COMMAND_ENV: "OTHER, THE_TOKEN" });
  });

  it.each([
    ["a JSON list", () => JSON.stringify(["printenv", "THE_TOKEN"])],
    ["words between blanks", () => "  printenv   THE_TOKEN "],
  ])("gives the token of the users host: %s", async (_, line) => {
    bench.env["GRAPHFORM_TOKEN_COMMAND"] = line();
    expect(await bench.gf("apply", "--auto-approve")).toMatchObject({ code: 0 });
    bench.env["THE_TOKEN"] = "another";
    const ran = await bench.gf("plan");
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("user.list") });
  });

  it.each([
    ["printenv THE_TOKEN | cat", /must be a program with plain words[\s\S]*JSON list/],
    ['sh -c "printenv THE_TOKEN"', /must be a program with plain words/],
    ["echo $THE_TOKEN", /must be a program with plain words/],
    ["[1, 2]", /must be a program with plain words/],
    ['["printenv"', /must be a program with plain words/],
    ["[]", /must be a program with plain words/],
    ["no-such-program-here", /GRAPHFORM_TOKEN_COMMAND: the command no-such-program-here cannot be started/],
    ["false", /GRAPHFORM_TOKEN_COMMAND: the command false failed with exit code 1/],
    ["true", /token for the users host is empty/],
  ])("%s is no shell's business, and said to be wrong", async (line, said) => {
    expect((await bench.gf("apply", "--auto-approve")).code).toBe(0);
    bench.env["GRAPHFORM_TOKEN_COMMAND"] = line;
    const ran = await bench.gf("plan");
    expect(ran).toMatchObject({ code: 1, err: expect.stringMatching(said) });
    expect(ran.err).not.toContain(token());
  });

  it("and GRAPHFORM_TOKEN at once is refused", async () => {
    Object.assign(bench.env, { GRAPHFORM_TOKEN: token(), GRAPHFORM_TOKEN_COMMAND: "printenv THE_TOKEN" });
    expect(await bench.gf("plan")).toMatchObject({ code: 1, err: expect.stringContaining("both set") });
  });
});
