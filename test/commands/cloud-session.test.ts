import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CloudBench, cloudBench } from "./cloud-bench.ts";

/** Logs in, and leaves nothing but the kept session to sign in with. */
async function loggedIn(): Promise<{
  readonly bench: CloudBench;
  readonly out: string;
  readonly kept: string;
}> {
  const bench = await cloudBench();
  const ran = await bench.gf("login");
  expect(ran.code, ran.err).toBe(0);
  for (const name of ["GRAPHFORM_USERNAME", "GRAPHFORM_PASSWORD"]) bench.env[name] = undefined;
  const found = execFileSync("find", [join(bench.folder, "xdg"), "-name", "*.json"], { encoding: "utf8" });
  return { bench, out: ran.out, kept: found.trim() };
}

/** Puts the kept session into the past: its last fifth, or after its end. */
function aged(kept: string, isOver: boolean): void {
  const session: { tokens: { [name: string]: unknown } } = JSON.parse(readFileSync(kept, "utf8"));
  session.tokens["renewAt"] = 1;
  if (isOver) session.tokens["endsAt"] = Date.parse("2026-01-02T03:04:05Z");
  writeFileSync(kept, JSON.stringify(session));
}

describe("a session without a refresh token", () => {
  it("is kept until its JWT ends, which is said, and used up to that moment", async () => {
    const { bench, out, kept } = await loggedIn();
    expect(out).toMatch(/the session is kept until 20\d\d-.*Z: this service gives no token/);
    aged(kept, false);
    expect((await bench.gf("plan")).code).toBe(0);
    aged(kept, true);
    expect(await bench.gf("plan")).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /the session kept for http.* ended at 2026-01-02T03:04:05.000Z; this service gives no token[\s\S]*graphform login again/,
      ),
    });
  });

  it("ended by the service before its time: the message knows no end, and says the way out", async () => {
    const { bench } = await loggedIn();
    await bench.manifest(`instances:
  one: { tier: free, component: free, cloudProvider: aws, region: us-east-1, config: { name: one, graphdbPassword: "\${secret.pw}" } }
`);
    let asked = 0;
    bench.cloud.meddle = () => {
      asked += 1;
      return asked > 1 ? { status: 401, body: { name: "unauthorized", message: "expired" } } : undefined;
    };
    const planned = await bench.gf("plan");
    expect(planned.code).toBe(1);
    expect(planned.err).toMatch(
      /the service no longer accepts the session kept for http\S+; this service gives no token[\s\S]*graphform login again/,
    );
    expect(planned.err).not.toMatch(/ended at|\d{4}-\d\d-\d\dT/);
  });

  it.each([
    ["fresh", () => undefined],
    ["in its last minutes", (kept: string) => aged(kept, false)],
  ])("%s: another process sends the sign-out, with its token", async (_, age) => {
    const { bench, kept } = await loggedIn();
    age(kept);
    expect((await bench.gf("logout")).out).toContain("Signed out");
    const [sent] = bench.cloud.service.to("/logout");
    expect(sent?.headers.authorization).toMatch(/^Bearer ey/);
    expect(bench.cloud.service.to("/signin").length, "nobody signed in for that").toBe(1);
    expect((await bench.gf("logout")).out).toContain("No session is kept");
  });

  it("after its end: there is nothing to sign out of", async () => {
    const { bench, kept } = await loggedIn();
    aged(kept, true);
    expect((await bench.gf("logout")).out).toContain("had expired");
    expect(bench.cloud.service.to("/logout")).toEqual([]);
  });

  it("says who asks in every request, with the version", async () => {
    const { bench } = await loggedIn();
    await bench.gf("plan");
    const { version }: { version: string } = JSON.parse(readFileSync("package.json", "utf8"));
    const agents = new Set(bench.cloud.service.seen.map(({ headers }) => headers["user-agent"]));
    expect(agents).toEqual(new Set([`graphform/${version}`]));
  });
});
