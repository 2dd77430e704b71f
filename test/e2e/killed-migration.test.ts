import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
import { startTerraformServer, type TerraformServer } from "../support/terraform-server.ts";
import { openWorkspace, until, type Workspace } from "../support/workspace.ts";

let service: FakeService;
let bucket: S3Server;
let server: TerraformServer;
let user: Workspace;
let old: string;

beforeAll(async () => {
  [service, bucket, server] = await Promise.all([
    FakeService.start(),
    startS3Server(),
    startTerraformServer("plain"),
  ]);
  old = `s3://${bucket.bucket}/it's/shop.json?endpoint=${bucket.origin}`;
  const section = {
    type: "http",
    address: server.address,
    lockAddress: server.lockAddress,
    unlockAddress: server.lockAddress,
  };
  user = openWorkspace(`apiVersion: graphform/v1
name: shop
service: { platformUrl: "${service.url}" }
state: ${JSON.stringify(section)}
instances:
  a: { tier: startup, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: a, memoryRequestsAndLimits: 2200M, graphDBCacheSize: 30, graphdbUser: app, graphdbPassword: "\${env.PW}" } }
`);
  Object.assign(user.env, service.env, {
    PW: "a-password-of-tests",
    AWS_ACCESS_KEY_ID: bucket.accessKeyId,
    AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey,
    GRAPHFORM_STATE_USERNAME: server.username,
    GRAPHFORM_STATE_PASSWORD: server.password,
  });
});
afterAll(async () => {
  await user.close();
  await Promise.all([service.close(), bucket.close(), server.close()]);
});

/** The way out that a refusal names, as the words of a command. */
function commandIn(err: string): readonly string[] {
  const [, words = ""] = /graphform (state migrate --state .* --to '[^']*')/.exec(err) ?? [];
  return [...words.matchAll(/((?:'[^']*'|\\'|[^\s'])+)/g)].map(([word]) =>
    word.replaceAll("'\\''", "\0").replaceAll("'", "").replaceAll("\0", "'"),
  );
}

describe("a migration that is ended by kill -9 before its last write", () => {
  it("leaves two places that refuse and name the one command that finishes it, which does", async () => {
    const applied = await user.run("apply", "--auto-approve", "--state", old);
    expect(applied, applied.err).toMatchObject({ code: 0 });
    let held = false;
    server.misbehave = ({ method, url, body }) => {
      const isState = method === "POST" && url.pathname === new URL(server.address).pathname;
      if (!isState || body.includes("movingFrom")) return undefined;
      held = true;
      return "hang";
    };
    const { child, ended } = user.start("state", "migrate", "--state", old, "--to", "http");
    await until(() => held || undefined, "the last write");
    child.kill("SIGKILL");
    await ended;
    server.misbehave = () => undefined;
    bucket.advance(120_000);

    const refusals = [await user.run("plan", "--state", old), await user.run("plan")];
    for (const { code, err } of refusals)
      expect({ code, err }).toMatchObject({
        code: 1,
        err: expect.stringContaining("graphform state migrate"),
      });
    const commands = refusals.map(({ err }) => commandIn(err));
    expect(commands[0]).toEqual(commands[1]);
    expect(commands[0]).toEqual(["state", "migrate", "--state", old, "--to", server.address]);

    const locked = await user.run(...(commands[0] ?? []));
    const [, id = ""] = /graphform state unlock (\S+)/.exec(locked.err) ?? [];
    expect(locked, locked.err).toMatchObject({ code: 5 });
    expect(await user.run("state", "unlock", id)).toMatchObject({ code: 0 });
    const finished = await user.run(...(commands[0] ?? []));
    expect(finished, finished.err).toMatchObject({ code: 0, out: expect.stringContaining("lockAddress:") });
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    expect(await user.run("plan", "--state", old)).toMatchObject({ code: 1 });
    expect(service.instances.size).toBe(1);
  });
});
