import { afterAll, beforeAll, expect, it } from "vitest";
import { isObject } from "../../src/model/json.ts";
import { ask, type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

const manifest = `
apiVersion: graphform/v1
name: generated
service: { profile: ${quickProfileFile} }
instances:
  a: { tier: free, component: free, cloudProvider: aws, region: us-east-1, config: { name: a } }
outputs:
  endpoint: \${instances.a.endpoint}
`;

let user: Workspace;
let platform: LocalPlatform;
beforeAll(async () => {
  user = openWorkspace(manifest);
  platform = await platformUp(user, "--delay", "5");
});
afterAll(() => user.close());

/** What describe shows as the deployment's outputs. */
async function resultParams(id: string): Promise<{ readonly [name: string]: unknown }> {
  const { username }: { username: string } = JSON.parse(user.read(".graphform/platform/credentials.json"));
  const signedIn = await fetch(`${platform.url}/2022-09-01-00/signin`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: username, password: platform.password }),
  });
  const { jwtToken }: { jwtToken: string } = JSON.parse(await signedIn.text());
  const path = `/2022-09-01-00/resource-instance/sp-default/graphdb/v1/prod/hosted/free/free/${id}`;
  const described = await fetch(`${platform.url}${path}`, {
    headers: { authorization: `Bearer ${jwtToken}` },
  });
  const body: unknown = JSON.parse(await described.text());
  const params = isObject(body) ? body["result_params"] : undefined;
  return isObject(params) ? params : {};
}

it("a password that the service made is shown by the service alone, and opens the database", async () => {
  const texts: { [name: string]: string } = {};
  const run = async (...args: readonly string[]): Promise<number | null> => {
    const { code, out, err } = await user.run(...args);
    texts[args.join(" ")] = `${out}${err}`;
    return code;
  };
  expect(await run("apply", "--auto-approve", "--trace", "--log", "run.log")).toBe(0);
  const { graphdbUser, graphdbPassword, graphdbPort } = await resultParams(
    user.state("generated").resources["instances.a"]?.id ?? "",
  );
  const login = { username: String(graphdbUser), password: String(graphdbPassword) };
  expect(login.password.length).toBeGreaterThan(20);
  expect(await ask(`127.0.0.1:${graphdbPort}`, login, "PING")).toBe("PONG");
  for (const command of [
    "show --json",
    "output --json",
    "plan --json --trace",
    "plan --out x.plan",
    "show x.plan",
  ])
    expect([command, await run(...command.split(" "))]).toEqual([command, 0]);
  expect(await run("plan", "--detailed-exitcode")).toBe(0);
  expect(await run("import", "--all", "--out", "imported.yaml", "--state", "imported.json")).toBe(0);
  for (const file of user.files()) texts[file] = user.read(file);
  const places = Object.keys(texts).filter((name) => texts[name]?.includes(login.password));
  expect(places).toEqual([]);
});
