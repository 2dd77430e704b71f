import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ran, runHere } from "../../support/command-line.ts";
import { fleetViolations } from "../../support/published-schemas.ts";
import { quickProfileFile } from "../../support/quick-profile.ts";
import { openFolder } from "../../support/unprivileged.ts";
import { graphform, type Served, startServed } from "../support/serve.ts";

const manifest = `apiVersion: graphform/v1
name: cache
defaults:
  instances: { cloudProvider: aws, region: us-east-1 }
instances:
  main:
    tier: pro
    component: standalone
    config: { name: cache, description: first, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${env.SHOP_PASSWORD}" }
`;

describe("graphform fleet", () => {
  let folder: string;
  let served: Served;

  beforeAll(async () => {
    folder = openFolder("fleet");
    graphform(folder, "platform", "up", "--detach", "--engine", "none", "--delay", "5");
    const config = join(folder, "controller.yaml");
    const tenant = `{ auto: safe, service: { profile: ${quickProfileFile} }, secrets: { envPrefix: SHOP_ } }`;
    writeFileSync(config, `tenants: { shop: ${tenant} }\n`);
    served = await startServed(folder, "--config", config);
  });
  afterAll(async () => {
    await served.end("SIGTERM");
    graphform(folder, "platform", "down");
  });

  const fleet = (...args: readonly string[]): Promise<Ran> => runHere(["fleet", ...args], served.env);
  /** The document of a command, valid by the published schema. */
  const document = async (...args: readonly string[]) => {
    const { out } = await fleet(...args, "--json");
    expect(fleetViolations(JSON.parse(out)), `${args.join(" ")}: ${out}`).toEqual([]);
    return JSON.parse(out);
  };
  const file = (text: string): string => {
    const path = join(folder, "graphform.yaml");
    writeFileSync(path, text);
    return path;
  };
  const newestRun = async (): Promise<{ id: string; status: string; fingerprint: string }> =>
    (await document("runs", "shop/cache")).runs[0];

  it("adds, approves, pauses and removes a manifest", async () => {
    const added = await fleet("add", "cache", "--file", file(manifest), "--wait");
    expect(added, added.out).toMatchObject({ code: 0, err: "" });
    expect(added.out).toMatch(/^pending\nplanning\n/m);
    expect(added.out).toMatch(/^ {2}instances\.main create\n {2}instances\.main create done/m);
    expect(await fleet("add", "cache", "--file", file(manifest))).toMatchObject({
      ...{ code: 1, err: "error: the tenant shop has a manifest cache already\n" },
    });
    const other = file(`${manifest}# another one\n`);
    const cautious = await fleet("add", "cautious", "--file", other, "--auto", "none", "--wait");
    expect(cautious).toMatchObject({ code: 8, out: expect.stringContaining("needs_approval: safe, but") });
    await fleet("remove", "cautious");
    expect((await fleet("list")).out).toMatch(/shop\/cache +in-sync/);
    expect((await fleet("drift")).out).toMatch(/^[01] of 1 manifests checked/);
    expect((await fleet("locks")).code).toBe(0);
    expect((await fleet("upload", "cache", "--file", file(manifest))).out).toContain("the same");

    const bigger = manifest.replace("m7g.large", "m7g.xlarge");
    const asked = await fleet("upload", "shop/cache", "--file", file(bigger), "--wait");
    expect(asked).toMatchObject({ code: 8, out: expect.stringContaining("graphform fleet approve") });
    const { id, fingerprint } = await newestRun();
    expect((await fleet("show", id)).out).toMatch(
      /^ {2}~ instances\.main .*\n.*\n {4}~ config\.nodeInstanceType +"m7g\.large" .*→ "m7g\.xlarge"/m,
    );
    expect(await fleet("approve", id, "--fingerprint", "another")).toMatchObject({ code: 6 });
    expect((await fleet("list", "--status", "waiting")).out).toContain(id);
    const approved = await fleet("approve", id, "--fingerprint", fingerprint, "--wait", "--json");
    expect(approved.code, approved.err).toBe(0);
    expect(JSON.parse(approved.out)).toMatchObject({ run: { id, status: "applied", exitCode: 0 } });
    expect(await fleet("cancel", id)).toMatchObject({ code: 1, err: expect.stringContaining("ended") });
    for (const words of [["list"], ["drift"], ["locks"], ["show", id], ["reconcile", "cache"], ["redrive"]])
      await document(...words);

    const guarded = `${bigger.replace("main:", "other:")}guards: { maxDeletes: 0 }\n`;
    expect(await fleet("upload", "cache", "--file", file(guarded), "--wait")).toMatchObject({
      ...{ code: 8, out: expect.stringMatching(/^ {2}instances\.main: blocked: .*\n[\s\S]*approve it:/m) },
    });
    const risky = await newestRun();
    expect((await fleet("show", risky.id)).out).toContain("instances.main: blocked: ");
    const partly = await fleet("approve", risky.id, "--fingerprint", risky.fingerprint, "--wait");
    expect(partly).toMatchObject({
      code: 4,
      out: expect.stringContaining("errored: instances.main: blocked"),
    });

    const broken = `${manifest}nonsense: 1\nmore: 2\n`;
    const refused = await fleet("upload", "cache", "--file", file(broken), "--wait");
    expect([refused.code, refused.out]).toEqual([
      3,
      expect.stringMatching(/^errored: graphform\.yaml:.*"nonsense".*\n {2}graphform\.yaml:.*"more"/m),
    ]);
    expect((await fleet("list")).out).toMatch(/^shop\/cache +errored .*"nonsense"[^\\]*\)\n$/m);
    expect((await fleet("list", "--status", "wrong")).err).toMatch(/must be one of .*in-sync/);
    expect((await fleet("redrive")).out).toBe("1 run asked for\n");
    expect((await fleet("pause", "cache", "--until", "4h")).out).toContain("paused until");
    expect((await fleet("pause", "cache", "--until", "now")).out).toContain("checked again");
    expect((await fleet("pause", "cache", "--until", "2020-01-01")).err).toContain("is not in the future");
    expect((await fleet("pause", "cache", "--until", "2999-02-31")).err).toContain("is no time");
    expect((await fleet("pause", "cache", "--until", "99999999999h")).err).toContain("is no time");
    expect((await fleet("remove", "cache")).out).toContain("its databases stay, and its state");
    expect(JSON.parse((await fleet("list", "--json")).out).manifests).toEqual([]);
  });

  it("makes tokens that see their tenant alone, and ends them", async () => {
    const db = ["--embedded", join(folder, "db")];
    const role = ["--role", "viewer", "--tenant", "shop", "--name", "ada"];
    const made = await runHere(["serve", "token", "create", ...role, ...db, "--json"], {});
    const { id, token } = JSON.parse(made.out);
    const viewer = { ...served.env, GRAPHFORM_CONTROLLER_TOKEN: token };
    expect((await runHere(["fleet", "list"], viewer)).code).toBe(0);
    expect(await runHere(["fleet", "reconcile", "cache"], viewer)).toMatchObject({
      code: 1,
      err: expect.stringContaining("it takes the role planner"),
    });
    expect((await runHere(["serve", "token", "list", ...db], {})).out).toMatch(/viewer +shop +valid/);
    expect((await runHere(["serve", "token", "revoke", id, ...db], {})).code).toBe(0);
    expect((await runHere(["fleet", "list"], viewer)).err).toContain("unknown, expired or revoked");
    const unknown = await runHere(["serve", "token", "create", "--role", "api", "--name", "x", ...db], {});
    expect(unknown.err).toContain("viewer, planner, approver, admin");
    const lost = ["--role", "viewer", "--name", "x", "--tenant", "no such"];
    expect((await runHere(["serve", "token", "create", ...lost, ...db], {})).err).toContain(
      'error: "no such" is not the name of a tenant',
    );
  });

  it.each([
    [{ GRAPHFORM_CONTROLLER_TOKEN: "" }, "no token for the controller"],
    [{ GRAPHFORM_CONTROLLER_URL: "http://controller.example.com" }, "unencrypted"],
    [{ GRAPHFORM_CONTROLLER_URL: "http://127.0.0.1:1" }, "does not answer"],
    [{ GRAPHFORM_CONTROLLER_URL: "http://ada:secret-of-ada@127.0.0.1:1" }, "has a login in it"],
  ])("says what is wrong with %o", async (change, message) => {
    const { code, err } = await runHere(["fleet", "list"], { ...served.env, ...change });
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(message) });
  });
});
