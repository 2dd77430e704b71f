import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stateFormatter } from "../../src/state/document.ts";
import { sampleState } from "../state/samples.ts";
import { startTerraformServer, type TerraformServer } from "../support/terraform-server.ts";
import { openWorkspace, until, type Workspace } from "../support/workspace.ts";

const text = stateFormatter()(sampleState(5));
let server: TerraformServer;
let user: Workspace;

beforeAll(async () => {
  server = await startTerraformServer("gitlab");
  user = openWorkspace(`apiVersion: graphform/v1
name: shop
service: { platformUrl: "http://127.0.0.1:9" }
state: { type: http, address: "${server.address}" }
instances: {}
`);
  Object.assign(user.env, {
    GRAPHFORM_STATE_USERNAME: server.username,
    GRAPHFORM_STATE_PASSWORD: server.password,
  });
  writeFileSync(join(user.dir, "kept.json"), text);
});
afterAll(async () => {
  await user.close();
  await server.close();
});

const migrate = (to: string): ReturnType<Workspace["run"]> =>
  user.run("state", "migrate", "--state", "kept.json", "--to", to);
const writes = (body: string): boolean => body.includes('"document":');

describe("a migration that cannot be", () => {
  it("leaves everything where it is: to the place of another state, and to its own under another name", async () => {
    const other = text.replace("lineage-1", "another");
    writeFileSync(join(user.dir, "other.json"), other);
    symlinkSync(join(user.dir, "kept.json"), join(user.dir, "link.json"));
    expect(await migrate("other.json")).toMatchObject({
      code: 1,
      err: expect.stringContaining("is not overwritten"),
    });
    for (const spelling of ["link.json", "./folder/../kept.json"])
      expect(await migrate(spelling)).toMatchObject({
        code: 1,
        err: expect.stringContaining("is at kept.json already"),
      });
    expect([user.read("kept.json"), user.read("other.json")]).toEqual([text, other]);
    expect(user.files()).toEqual(["graphform.yaml", "kept.json", "other.json"]);
  });

  it("says where the state is after a write that was refused, and gives the locks back", async () => {
    server.misbehave = ({ body }) => (writes(body.toString()) ? { status: 403, body: "{}" } : undefined);
    expect(await migrate("http")).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /gives no right to write the state \(403\); the state is still at kept.json/,
      ),
    });
    server.misbehave = () => undefined;
    expect([user.read("kept.json"), server.lock, server.document]).toEqual([text, undefined, undefined]);
  });

  it("ends on the second Ctrl-C while the new place does not answer, and has moved nothing", async () => {
    let held = false;
    server.misbehave = ({ body }) => {
      if (!writes(body.toString())) return undefined;
      held = true;
      return "hang";
    };
    const running = user.start("state", "migrate", "--state", "kept.json", "--to", "http");
    await until(() => held || undefined, "the first write");
    running.child.kill("SIGINT");
    await running.said("Ctrl-C again");
    running.child.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 130 });
    server.misbehave = () => undefined;
    expect(user.read("kept.json")).toBe(text);
    const [, id = ""] = /graphform state unlock (\S+)/.exec((await migrate("http")).err) ?? [];
    expect(await user.run("state", "unlock", id)).toMatchObject({ code: 0 });
    expect(await migrate("http")).toMatchObject({ code: 0 });
    expect(await user.run("state", "list", "--state", "kept.json")).toMatchObject({ code: 1 });
  });
});
