import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { platformUp } from "../support/local-platform.ts";
import { openWorkspace, processesOf, type Workspace } from "../support/workspace.ts";

let user: Workspace;

beforeEach(() => {
  user = openWorkspace();
});
afterEach(() => user.close());

const up = ["platform", "up", "--engine", "none"] as const;

describe("graphform platform", () => {
  it("up --json prints one line when it is ready, runs in the foreground, and stops at Ctrl-C", async () => {
    const running = user.start(...up, "--json");
    await running.said("\n");
    const status = await user.run("platform", "status", "--json");
    expect(status.code).toBe(0);
    running.child.kill("SIGINT");
    const { code, out } = await running.ended;
    expect(code).toBe(0);
    expect(out.trimEnd().split("\n")).toHaveLength(1);
    const announced: { readonly url: string; readonly pid: number } = JSON.parse(out);
    expect(announced).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      usersUrl: announced.url,
      dataDir: `${user.dir}/.graphform/platform`,
      engine: { name: "none", version: "", why: expect.any(String) },
      pid: expect.any(Number),
      delays: expect.objectContaining({ create: 50 }),
      caFile: `${user.dir}/.graphform/platform/tls/ca.pem`,
    });
    expect(JSON.parse(status.out)).toMatchObject({ running: true, url: announced.url, pid: announced.pid });
    expect(await user.run("platform", "status")).toMatchObject({
      code: 1,
      out: expect.stringContaining("not running"),
    });
    expect(processesOf(user.dir)).toEqual([]);
  });

  it("up for people says where it is, which engine it has, and how to stop it", async () => {
    const running = user.start(...up);
    await running.said("ready at http://127.0.0.1:");
    running.child.kill("SIGTERM");
    const { code, out } = await running.ended;
    expect(code).toBe(0);
    expect(out).toMatch(/Ctrl-C stops it and keeps the data\nno databases run \(engine none\)/);
    expect(out).toContain("graphform platform open");
  });

  it("up where one runs already is exit 1 and says where; the first goes on", async () => {
    const first = await platformUp(user, "--engine", "none");
    for (const more of [["--detach"], []]) {
      const second = await user.run(...up, ...more);
      expect(second).toMatchObject({ code: 1, err: expect.stringContaining("platform down") });
      expect(second.err).toContain(String(first.pid));
    }
    expect(await user.run("platform", "status")).toMatchObject({
      code: 0,
      out: expect.stringContaining(first.url),
    });
  });

  it.each([[["--detach"]], [[]]])("up with a wrong option (%j) is exit 1 with one sentence", async (more) => {
    const ran = await user.run(...up, ...more, "--nonsense");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("nonsense");
    expect(ran.err).not.toMatch(/\bat .*\.js:\d+|node:internal/);
  });

  it("open prints a link that signs in once, and knows when nothing runs", async () => {
    expect(await user.run("platform", "open")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("graphform platform up --detach"),
    });
    const { url } = await platformUp(user, "--engine", "none");
    const { code, out, err } = await user.run("platform", "open");
    expect([code, err]).toEqual([0, "the link signs in once, within 60 seconds\n"]);
    expect(out).toMatch(new RegExp(`^${url}/\\?key=[\\w-]{32}\n$`));
    const opened = await fetch(out.trim(), { redirect: "manual" });
    expect([opened.status, opened.headers.getSetCookie().length]).toEqual([303, 1]);
    expect((await fetch(out.trim(), { redirect: "manual" })).status).toBe(200);
  });

  it("down where none runs is nothing to worry about", async () => {
    expect(await user.run("platform", "down")).toMatchObject({
      code: 0,
      out: "",
      err: "no local platform is running here\n",
    });
  });

  it("is what a manifest without a service means, and a plan says how to start it where it does not run", async () => {
    const place = "tier: free, component: free, cloudProvider: aws, region: us-east-1";
    user.write("graphform.yaml", `apiVersion: graphform/v1\nname: here\ninstances: { a: { ${place} } }\n`);
    for (const command of [["plan"], ["apply", "--auto-approve"]]) {
      expect(await user.run(...command)).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringContaining("graphform platform up --detach"),
      });
    }
    await platformUp(user, "--engine", "none", "--delay", "5");
    const ran = await user.run("apply", "--auto-approve");
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining("1 added") });
    // Nothing answers where there are no databases: nobody waits for it, or warns of it.
    expect(`${ran.out}${ran.err}`).not.toMatch(/warning|does not answer/);
  });

  it("at another port than the manifest or an option names, or with no URL at all, is an error that says where it is", async () => {
    const place = "tier: free, component: free, cloudProvider: aws, region: us-east-1";
    const manifest = (service: string): string =>
      `apiVersion: graphform/v1\nname: here\nservice: ${service}\ninstances: { a: { ${place} } }\n`;
    user.write("graphform.yaml", manifest("{ profile: default }"));
    const none = await user.run("plan");
    expect(none.err).toContain("neither the manifest's service section nor the profile default names one");
    expect(none.err).toContain("platform up --detach");
    const { url } = await platformUp(user, "--engine", "none");
    for (const profile of ["default", "falkordb-cloud"]) {
      user.write("graphform.yaml", manifest(`{ profile: ${profile}, platformUrl: "http://127.0.0.1:9" }`));
      const moved = await user.run("plan");
      expect(moved.code).toBe(1);
      expect(moved.err).toContain(`listens at ${url}, not at http://127.0.0.1:9`);
    }
  });
});
