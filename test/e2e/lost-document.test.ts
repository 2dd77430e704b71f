import { afterEach, beforeEach, expect, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { openPostgres, type Postgres } from "../support/postgres.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

const apply = ["apply", "--auto-approve"] as const;
const states = "graphform.states";

let service: FakeService;
let database: Postgres;
let user: Workspace;

beforeEach(async () => {
  [service, database] = [await FakeService.start(), await openPostgres()];
  user = openWorkspace();
  declare("one");
  Object.assign(user.env, service.env, database.credentials, { PW: "a-password-of-tests" });
  expect(await user.run("state", "init")).toMatchObject({ code: 0 });
  expect(await user.run(...apply)).toMatchObject({ code: 0 });
});
afterEach(async () => {
  await user.close();
  await Promise.all([service.close(), database.close()]);
});

function declare(description: string): void {
  user.write(
    "graphform.yaml",
    `apiVersion: graphform/v1
name: shop
service: { profile: ${quickProfileFile}, platformUrl: "${service.url}" }
state: { type: postgres, sslmode: disable }
instances:
  a: { tier: startup, component: standalone, cloudProvider: aws, region: us-east-1, config: { name: a, description: ${description}, memoryRequestsAndLimits: 2200M, graphdbUser: app, graphdbPassword: "\${env.PW}" } }
`,
  );
}

/** The id that the refusal names. */
function wayBack(text: string): string {
  const [, id = ""] = /graphform state restore (\d+)/.exec(text) ?? [];
  return id;
}

it("a document that is gone while its versions are kept is refused until a person restores one, or none", async () => {
  await database.sql(`DELETE FROM ${states}`);
  for (const command of [["plan"], apply, ["destroy", "--auto-approve"]])
    expect(await user.run(...command), command.join(" ")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/is gone, and the store still has version \d+ [\s\S]*state restore none/),
    });
  const doctor = await user.run("doctor");
  expect(doctor.out).toMatch(/failed\s+state: .*is gone, and the store still has version/);
  expect(doctor.out).not.toContain("yet");
  expect(service.instances.size).toBe(1);

  const { err } = await user.run("plan");
  expect(await user.run("state", "restore", wayBack(err))).toMatchObject({
    code: 0,
    out: expect.stringContaining("has 1 resource now"),
  });
  expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });

  await database.sql(`DELETE FROM ${states}`);
  expect(await user.run("state", "restore", "none")).toMatchObject({ code: 0 });
  expect(await user.run("plan")).toMatchObject({ code: 0, out: expect.stringContaining("1 to add") });
}, 240_000);

it("an older copy that was put back is refused until a person says which one goes on", async () => {
  const [before] = await database.sql(`SELECT document, serial FROM ${states}`);
  declare("two");
  expect(await user.run(...apply)).toMatchObject({ code: 0 });
  const putBack = async (): Promise<unknown> =>
    database.sql(`UPDATE ${states} SET document = $1, serial = $2, version = version + 1`, [
      before?.["document"],
      before?.["serial"],
    ]);
  await putBack();
  const refused = await user.run(...apply);
  expect(refused).toMatchObject({
    code: 1,
    err: expect.stringContaining("an older copy was put in its place"),
  });
  expect(await user.run("state", "restore", wayBack(refused.err))).toMatchObject({ code: 0 });
  expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });

  await putBack();
  expect(await user.run("plan")).toMatchObject({ code: 1 });
  expect(await user.run("state", "restore", "current")).toMatchObject({ code: 0 });
  expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 2 });
}, 240_000);
