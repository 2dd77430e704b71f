import { createHmac } from "node:crypto";
import { request } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../../src/controller/http/app.ts";
import { addToken, rateLimit, revokeToken } from "../../../src/controller/http/tokens.ts";
import { addEvents, moveRun } from "../../../src/controller/runs/run-moves.ts";
import { files, openApi, sendTo, type TestApi } from "./open-api.ts";

describe("the API", () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await openApi();
  }, 120_000);
  afterAll(() => api?.close());

  const at = (name: string): string => `/api/v1/manifests/shop/${name}`;

  it.each([
    ["a day that no calendar has", "2999-02-31T00:00:00Z"],
    ["a time that has passed", "2020-01-01T00:00:00Z"],
    ["a word", "tomorrow"],
    ["a number", 4_102_444_800_000],
  ])("refuses a pause until %s, says what is allowed, and pauses nothing", async (_, until) => {
    const { tokens } = api;
    const name = "unpaused";
    await api.add("shop", name);
    const refused = await api.send("POST", `${at(name)}/pause`, { token: tokens.approver, body: { until } });
    expect(refused).toMatchObject({
      status: 400,
      json: {
        code: "invalid-request",
        detail:
          "the body at /until must be a time of the calendar in the future, such as 2026-12-24T18:00:00Z, or null, which ends a pause",
      },
    });
    const shown = await api.send("GET", at(name), { token: tokens.viewer });
    expect(shown.json).toMatchObject({ pausedUntil: null });
    await api.send("DELETE", at(name), { token: tokens.admin });
  });

  it("adds, lists by pages, changes, pauses, uploads and removes manifests", async () => {
    const { tokens } = api;
    for (const name of ["c", "a", "b"]) await api.add("shop", name);
    const first = await api.send("GET", "/api/v1/manifests?limit=2", { token: tokens.viewer });
    expect(first.json).toMatchObject({
      manifests: [{ name: "a", status: "unchecked" }, { name: "b" }],
      next: "shop/b",
    });
    const second = await api.send("GET", "/api/v1/manifests?limit=2&after=shop/b", { token: tokens.viewer });
    expect(second.json).toMatchObject({ manifests: [{ name: "c" }], next: null });
    const changed = await api.send("PATCH", at("a"), {
      token: tokens.admin,
      body: { auto: "safe", intervalSeconds: 60 },
    });
    expect(changed.json).toMatchObject({ auto: "safe", intervalSeconds: 60 });
    const until = "2030-01-01T00:00:00.000Z";
    await api.send("POST", `${at("a")}/pause`, { token: tokens.approver, body: { until } });
    expect((await api.send("GET", at("a"), { token: tokens.viewer })).json).toMatchObject({
      pausedUntil: until,
    });
    const same = await api.send("PUT", `${at("a")}/files`, { token: tokens.planner, body: { files } });
    expect(same.json).toEqual({ run: null });
    const named = { files: { "a/b.yaml": "y" } };
    const folder = await api.send("PUT", `${at("a")}/files`, { token: tokens.planner, body: named });
    expect(folder.json).toMatchObject({ code: "invalid-request" });
    const other = await api.send("PUT", `${at("a")}/files`, {
      token: tokens.planner,
      body: { files: { "x.yaml": "y" } },
    });
    expect(other.json).toEqual({ run: expect.any(String) });
    const again = { tenant: "shop", name: "a", source: { type: "upload" }, files };
    expect(
      (await api.send("POST", "/api/v1/manifests", { token: tokens.admin, body: again })).json,
    ).toMatchObject({ code: "exists" });
    expect((await api.send("DELETE", at("c"), { token: tokens.admin })).json).toEqual({ result: "removed" });
    expect((await api.send("GET", at("c"), { token: tokens.viewer })).status).toBe(404);
    const git = {
      tenant: "shop",
      name: "g",
      source: { type: "git", url: "https://evil.example.com/x", ref: "main", path: "." },
    };
    expect(
      (await api.send("POST", "/api/v1/manifests", { token: tokens.admin, body: git })).json,
    ).toMatchObject({ code: "source-refused" });
  });

  it("approves the plan with the fingerprint alone, shows the decision, and answers a late one with a problem", async () => {
    const { run } = await api.add("shop", "approved");
    await api.put(run, { status: "needs_approval", fingerprint: "right", counts: { create: 2 } });
    const { approver: token } = api.tokens;
    const waiting = await api.send("GET", "/api/v1/approvals", { token });
    expect(waiting.json).toMatchObject({ runs: [{ id: run, fingerprint: "right", counts: { create: 2 } }] });
    const wrong = await api.send("POST", `/api/v1/runs/${run}/approve`, {
      token,
      body: { fingerprint: "wrong" },
    });
    expect([wrong.status, wrong.json]).toEqual([409, expect.objectContaining({ code: "changed" })]);
    const right = await api.send("POST", `/api/v1/runs/${run}/approve`, {
      token,
      body: { fingerprint: "right" },
    });
    expect(right.json).toEqual({ result: "approved" });
    const late = await api.send("POST", `/api/v1/runs/${run}/approve`, {
      token,
      body: { fingerprint: "right" },
    });
    expect(late.json).toMatchObject({ code: "not-waiting" });
    const shown = await api.send("GET", `/api/v1/runs/${run}`, { token });
    expect(shown.json).toMatchObject({
      run: { status: "approved" },
      decisions: [{ decision: "approve", fingerprint: "right" }],
    });
    expect((await api.send("POST", `/api/v1/runs/${run}/cancel`, { token, body: {} })).json).toEqual({
      result: "canceled",
    });
  });

  it("asks again for what failed", async () => {
    const { run } = await api.add("shop", "failed");
    await api.put(run, { status: "errored", ended_at: new Date() });
    const sent = await api.send("POST", "/api/v1/redrive", { token: api.tokens.approver, body: {} });
    expect([sent.status, sent.json]).toEqual([202, { runs: [expect.any(String)] }]);
    const metrics = await api.send("GET", "/metrics", { token: api.tokens.all });
    expect(metrics.text).toContain('graphform_runs_last_hour{result="errored"} 1');
    expect(metrics.text).toMatch(/graphform_queue_ready\{queue="plan"\} \d/);
    expect(metrics.text).toMatch(
      /graphform_http_requests_total\{method="POST",path="\/api\/v1\/redrive",code="202"\} 1/,
    );
  });

  it("shows a manifest whose plan went stale as applying while its next run is open, and as errored without one", async () => {
    const { run } = await api.add("shop", "stale");
    await api.put(run, { status: "stale", ended_at: new Date() });
    const status = async (): Promise<unknown> =>
      (await api.send("GET", at("stale"), { token: api.tokens.viewer })).json;
    expect(await status()).toMatchObject({ status: "errored" });
    await api.send("POST", `${at("stale")}/runs`, { token: api.tokens.planner, body: {} });
    expect(await status()).toMatchObject({ status: "applying" });
  });

  it("says why a manifest has failed until another run of it is more than a plan", async () => {
    const { run, manifest } = await api.add("shop", "broken");
    const shown = async (): Promise<unknown> =>
      (await api.send("GET", at("broken"), { token: api.tokens.viewer })).json;
    await api.put(run, {
      status: "errored",
      ended_at: new Date(),
      reasons: ["instances.a: no quota", "more"],
    });
    expect(await shown()).toMatchObject({ status: "errored", why: "instances.a: no quota" });
    const again = await api.send("POST", `${at("broken")}/runs`, { token: api.tokens.planner, body: {} });
    const { run: next }: { run: string } = JSON.parse(again.text);
    expect(await shown()).toMatchObject({ status: "errored", why: "instances.a: no quota" });
    await api.put(next, { status: "needs_approval" });
    expect(await shown()).toMatchObject({ status: "waiting", why: null, waitingRun: next });
    await api.put(next, { status: "applied", ended_at: new Date() });
    const known = { checked_at: new Date(), approved_commit: "c" };
    await api.database.updateTable("manifests").set(known).where("id", "=", manifest).execute();
    expect(await shown()).toMatchObject({ status: "in-sync", why: null });
  });

  it("ends a run by force a minute after its cancel was asked for, with an entry in the audit log; its manifest is unchecked then", async () => {
    const { manifest, run } = await api.add("shop", "forced");
    await api.put(run, { status: "applying", fence: 3 });
    const known = { checked_at: new Date(), approved_commit: "c" };
    await api.database.updateTable("manifests").set(known).where("id", "=", manifest).execute();
    const { approver: token } = api.tokens;
    const cancel = async (force: boolean): Promise<unknown> =>
      (await api.send("POST", `/api/v1/runs/${run}/cancel`, { token, body: { force } })).json;
    expect(await cancel(true)).toMatchObject({ code: "too-early" });
    expect(await cancel(false)).toEqual({ result: "requested" });
    expect(await cancel(true)).toMatchObject({ code: "too-early" });
    await api.put(run, { cancel_requested_at: new Date(Date.now() - 61_000) });
    expect(await cancel(true)).toEqual({ result: "canceled" });
    const shown = await api.send("GET", `/api/v1/runs/${run}`, { token });
    expect(shown.json).toMatchObject({ run: { status: "canceled", exitCode: 130 } });
    const late = await api.database
      .transaction()
      .execute((tx) => addEvents(tx, run, 3, [{ type: "note", message: "of its worker" }]));
    expect(late).toBe(false);
    const audit = await api.send("GET", "/api/v1/audit?limit=10", { token });
    expect(audit.text).toContain("cancel by force");
    expect((await api.send("GET", at("forced"), { token })).json).toMatchObject({ status: "unchecked" });
    await api.put(run, { exit_code: null });
    expect((await api.send("GET", at("forced"), { token })).json).toMatchObject({ status: "in-sync" });
  });

  it("does a request with an Idempotency-Key once, and refuses the key to another request", async () => {
    await api.add("shop", "once");
    const { planner: token } = api.tokens;
    const send = (key: string, path = `${at("once")}/runs`) =>
      api.send("POST", path, { token, body: {}, headers: { "idempotency-key": key } });
    const first = await send("k1");
    const second = await send("k1");
    expect([second.status, second.text, second.headers.get("idempotency-replayed")]).toEqual([
      202,
      first.text,
      "true",
    ]);
    expect((await send("k1", `${at("a")}/runs`)).json).toMatchObject({ code: "key-reused" });
    expect((await send("no blanks")).status).toBe(400);
    const many = await Promise.all([1, 2, 3, 4].map(() => send("k2")));
    const done = many.filter(({ status }) => status === 202);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    for (const { status, json } of many)
      if (status !== 202) expect(json).toMatchObject({ code: "in-progress" });
    // A refusal is no answer that is kept.
    const absent = await send("k3", `${at("not-yet")}/runs`);
    expect(absent.status).toBe(404);
    await api.add("shop", "not-yet");
    expect((await send("k3", `${at("not-yet")}/runs`)).status).toBe(202);
    // The same key of another token is another key.
    const others = await api.send("POST", `${at("once")}/runs`, {
      token: api.tokens.admin,
      body: {},
      headers: { "idempotency-key": "k1" },
    });
    expect(others.headers.get("idempotency-replayed")).toBeNull();
  });

  it("keeps an Idempotency-Key whose request may have been done, from other requests too", async () => {
    await api.add("shop", "unknown");
    const { planner: token } = api.tokens;
    const send = (key: string, path = `${at("unknown")}/runs`) =>
      api.send("POST", path, { token, body: {}, headers: { "idempotency-key": key } });
    const refuse = async (when: string, table: string, code: string): Promise<void> => {
      await api.postgres.sql(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END $$`);
      await api.postgres.sql(
        `CREATE TRIGGER refuse BEFORE ${when} ON graphform.${table} EXECUTE FUNCTION refuse()`,
      );
    };
    const allow = (table: string): Promise<unknown> =>
      api.postgres.sql(`DROP TRIGGER refuse ON graphform.${table}`);
    // The work is done, and its answer cannot be kept.
    await refuse("UPDATE", "answers", "P0001");
    expect((await send("u1")).status).toBe(202);
    await allow("answers");
    expect((await send("u1")).json).toMatchObject({ code: "in-progress" });
    // The database ends in the middle.
    await refuse("INSERT", "audit", "57P01");
    expect((await send("u2")).status).toBe(503);
    await allow("audit");
    expect((await send("u2")).json).toMatchObject({ code: "in-progress" });
    // The database has refused the work, and undone it.
    await refuse("INSERT", "audit", "P0001");
    expect((await send("u3")).status).toBe(500);
    await allow("audit");
    expect((await send("u3")).status).toBe(202);
    await api.postgres.sql("UPDATE graphform.answers SET at = at - interval '11 minutes'");
    expect((await send("u1", `${at("once")}/runs`)).json).toMatchObject({ code: "key-reused" });
    expect((await send("u1")).status).toBe(202);
    api.troubles.splice(0);
  });

  it("streams the events of a run, goes on after the last one that a client has seen, and ends with the run", async () => {
    const { run } = await api.add("shop", "streamed");
    const path = `/api/v1/runs/${run}/events`;
    const { viewer: token } = api.tokens;
    const app = api.app({ streams: { poll: 5, keepAlive: 1 } });
    const response = await app.request(`http://localhost${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const chunks = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
    let text = "";
    const until = async (part: string): Promise<void> => {
      while (!text.includes(part)) {
        const { done, value } = await chunks.read();
        if (done) throw new Error(`the stream ended before ${part}: ${text}`);
        text += Buffer.from(value).toString("utf8");
      }
    };
    await until('"to":"pending"');
    await until(": still there");
    const move = (way: Parameters<typeof moveRun>[2]): Promise<boolean> =>
      api.database.transaction().execute((tx) => moveRun(tx, run, way));
    await move({ from: "pending", to: "planning" });
    await until('"to":"planning"');
    const seen = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id = ""]) => id);
    await chunks.cancel();
    await move({ from: "planning", to: "errored" });
    const rest = await sendTo(app, "GET", path, { token, headers: { "last-event-id": seen.at(-1) ?? "" } });
    expect(rest.text).not.toContain('"to":"planning"');
    expect(rest.text).toContain('"to":"errored"');
    expect(rest.text).toMatch(/event: end\ndata: \{"status":"errored","exitCode":null\}\n\n$/);
    const last = [...rest.text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? "";
    const over = await sendTo(app, "GET", path, { token, headers: { "last-event-id": last } });
    expect([over.status, over.text]).toEqual([204, ""]);
    const whole = await sendTo(app, "GET", path, { token });
    expect(whole.text.match(/^event: status$/gm)).toHaveLength(3);
    expect((await sendTo(app, "GET", path, { token, headers: { "last-event-id": "x" } })).status).toBe(400);
  });

  it("never answers a hostile request with 500, a stack or SQL", async () => {
    const rows = endpoints.filter(({ method }) => method !== "GET");
    const paths = fc.constantFrom(
      "shop",
      "orders",
      "..",
      "%00",
      "%ff",
      "a".repeat(300),
      "'; DROP TABLE x; --",
      "__proto__",
      "%2e%2e%2f",
    );
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const body = fc.oneof(
      fc.json(),
      fc.constantFrom(
        "",
        "{",
        "null",
        deep,
        `{"a":${deep}}`,
        '{"__proto__":{"x":1}}',
        '"\\ud800"',
        '{"fingerprint":"\\u0000"}',
      ),
      fc.uint8Array({ maxLength: 200 }),
      fc
        .record({
          tenant: fc.anything(),
          name: fc.string(),
          source: fc.object(),
          files: fc.dictionary(fc.string(), fc.string()),
        })
        .map(jsonOf),
      fc.record({ fingerprint: fc.string({ unit: "binary" }) }).map(jsonOf),
      fc.record({ ID: fc.string({ unit: "binary" }), Who: fc.anything(), Info: fc.anything() }).map(jsonOf),
      fc.constantFrom(`{"ID":"x","Info":${deep}}`, `{"serial":7,"x":${deep}}`, '\ufeff{"serial":8}'),
      fc.record({ serial: fc.integer(), lineage: fc.string({ unit: "binary" }) }).map(jsonOf),
      fc.record({ force: fc.anything(), until: fc.anything() }).map(jsonOf),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...endpoints),
        paths,
        paths,
        body,
        fc.string(),
        async (row, one, two, sent, query) => {
          const path = row.path.replace("{tenant}", one).replace("{name}", two).replace("{run}", two);
          const search =
            row.query === undefined
              ? ""
              : `?${new URLSearchParams(Object.fromEntries(Object.keys(row.query).map((name) => [name, query])))}`;
          const options = { token: api.tokens.all, ...(rows.includes(row) ? { body: sent } : {}) };
          const { status, text } = await api.send(row.method, `${path}${search}`, options);
          expect([status < 500, text]).toEqual([true, text]);
          expect(text).not.toMatch(/\.ts:\d+|node_modules|SELECT |syntax error/);
        },
      ),
      { numRuns: 400 },
    );
    expect(api.troubles).toEqual([]);
  }, 120_000);

  it("takes bodies of a bounded size and of JSON alone, and knows no other methods and paths", async () => {
    const { planner: token } = api.tokens;
    const long = { files: { "a.yaml": "x".repeat(9 * 1024 * 1024) } };
    expect((await api.send("PUT", `${at("a")}/files`, { token, body: long })).json).toMatchObject({
      code: "too-large",
    });
    const text = await api.send("POST", `${at("a")}/runs`, {
      token,
      body: "{}",
      headers: { "content-type": "text/plain" },
    });
    expect(text.json).toMatchObject({ code: "wrong-type" });
    const put = await api.send("PUT", "/api/v1/manifests", { token });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, POST"]);
    expect((await api.send("GET", "/api/v2/nothing")).json).toMatchObject({ code: "not-found" });
  });

  it("limits the requests of a token, and the failed ones of an address", async () => {
    const app = api.app({ rate: { perSecond: 0.001, burst: 2 } });
    const codes = async (token: string): Promise<readonly number[]> => {
      const answers: number[] = [];
      for (let sent = 0; sent < 3; sent += 1)
        answers.push((await sendTo(app, "GET", "/api/v1/runs", { token })).status);
      return answers;
    };
    expect(await codes(api.tokens.viewer)).toEqual([200, 200, 429]);
    expect(await codes(api.tokens.planner)).toEqual([200, 200, 429]);
    const guesses: number[] = [];
    for (const token of ["gft_a", "gft_b", "gft_c"])
      guesses.push((await sendTo(app, "GET", "/api/v1/runs", { token })).status);
    expect(guesses).toEqual([401, 401, 429]);
    // No token that counts is refused for it, though it signs in for the first time.
    expect(await codes(api.tokens.admin)).toEqual([200, 200, 429]);
    // Nothing is asked of the database for the guesses of an address that has failed too often, but one list a second.
    let asked = 0;
    const database = api.database.withPlugin({
      transformQuery({ node }) {
        asked += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const shared = api.app({ database, rate: { perSecond: 0.001, burst: 3 } });
    const guess = async (at: number): Promise<number> =>
      (await sendTo(shared, "GET", "/api/v1/runs", { token: `gft_${at}` })).status;
    expect([await guess(1), await guess(2), await guess(3)]).toEqual([401, 401, 401]);
    const begun = performance.now();
    asked = 0;
    for (let at = 4; at < 100; at += 1) expect(await guess(at)).toBe(429);
    expect(asked).toBeLessThanOrEqual(1 + (performance.now() - begun) / 1_000);
    const request = { name: "new", role: "viewer", tenant: "shop", actor: "the test" } as const;
    const { id, token } = await api.database.transaction().execute((tx) => addToken(tx, request));
    await expect
      .poll(async () => (await sendTo(shared, "GET", "/api/v1/runs", { token })).status, { timeout: 5_000 })
      .toBe(200);
    await revokeToken(api.database, { id, actor: "the test" });
    await expect
      .poll(async () => (await sendTo(shared, "GET", "/api/v1/runs", { token })).status, { timeout: 5_000 })
      .toBe(429);
    let now = 0;
    const take = rateLimit({ perSecond: 2, burst: 2 }, () => now);
    expect([take("a"), take("a"), take("a"), take("b")]).toEqual([0, 0, 1, 0]);
    now = 500;
    expect(take("a")).toBe(0);
  });

  it("believes a proxy that the configuration trusts, and no other, about the way to the client", async () => {
    const { url } = await api.listen();
    const status = async (headers: { readonly [name: string]: string }): Promise<number> =>
      new Promise((resolve, reject) => {
        const sent = request(`${url}/healthz`, { headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        });
        sent.on("error", reject).end();
      });
    expect(await status({})).toBe(200);
    api.config.http = { trustProxy: ["127.0.0.0/8"] };
    expect(await status({ "x-forwarded-for": "203.0.113.7" })).toBe(403);
    expect(await status({})).toBe(200);
    expect(await status({ "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.7" })).toBe(200);
    api.config.http = { trustProxy: [] };
  });

  it("takes the webhooks of GitHub and GitLab if they are signed, and asks for runs of the manifests with that address and ref", async () => {
    process.env["HOOK_SECRET_OF_TESTS"] = "hook secret";
    const source = (ref: string) => ({
      type: "git",
      url: "https://git.example.com/Team/Repo.git",
      ref,
      path: ".",
    });
    const ids: { [ref: string]: string } = {};
    for (const [name, ref] of [
      ["main-one", "main"],
      ["other-ref", "next"],
    ] as const) {
      const sent = await api.send("POST", "/api/v1/manifests", {
        token: api.tokens.admin,
        body: { tenant: "shop", name, source: source(ref) },
      });
      const { manifest, run } = JSON.parse(sent.text);
      ids[ref] = manifest.id;
      await api.put(run, { status: "applied", ended_at: new Date() });
    }
    const push = { ref: "refs/heads/main", repository: { clone_url: "https://git.example.com/team/repo" } };
    const body = JSON.stringify(push);
    const signed = (secret: string): string =>
      `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const github = (signature: string) =>
      api.send("POST", "/hooks/github", {
        body,
        headers: { "x-github-event": "push", "x-hub-signature-256": signature },
      });
    expect((await github(signed("hook secret"))).status).toBe(404);
    // Not even its length is looked at.
    const unread = { "content-length": String(1e9) };
    const endless = () => api.send("POST", "/hooks/gitlab", { body: "{}", headers: unread });
    expect((await endless()).status).toBe(404);
    api.config.hooks = { github: { env: "HOOK_SECRET_OF_TESTS" }, gitlab: { env: "HOOK_SECRET_OF_TESTS" } };
    expect((await endless()).status).toBe(401);
    for (const signature of ["", "sha256=00", signed("another")])
      expect((await github(signature)).status).toBe(401);
    const byHooks = async (): Promise<readonly (string | undefined)[]> =>
      (
        await api.database.selectFrom("runs").select("manifest_id").where("trigger", "=", "webhook").execute()
      ).map((row) => row.manifest_id);
    expect(await byHooks()).toEqual([]);
    expect((await github(signed("hook secret"))).status).toBe(202);
    expect(await byHooks()).toEqual([ids["main"]]);
    const gitlab = {
      ref: "refs/heads/next",
      project: { git_http_url: "https://git.example.com/team/repo.git" },
    };
    const headers = { "x-gitlab-event": "Push Hook", "x-gitlab-token": "hook secret" };
    expect(
      (
        await api.send("POST", "/hooks/gitlab", {
          body: gitlab,
          headers: { ...headers, "x-gitlab-token": "x" },
        })
      ).status,
    ).toBe(401);
    expect((await api.send("POST", "/hooks/gitlab", { body: gitlab, headers })).status).toBe(202);
    expect(await byHooks()).toEqual([ids["main"], ids["next"]]);
  });

  it("answers 503 while the database is away, stays alive, and goes on when it is back", async () => {
    expect((await api.send("GET", "/readyz")).json).toEqual({ status: "ready" });
    await api.postgres.kill();
    const { viewer: token } = api.tokens;
    const away = await api.send("GET", "/api/v1/runs", { token });
    expect([away.status, away.headers.get("retry-after"), away.json]).toEqual([
      503,
      "5",
      expect.objectContaining({ code: "database-unavailable" }),
    ]);
    expect((await api.send("GET", "/readyz")).status).toBe(503);
    expect((await api.send("GET", "/metrics", { token })).status).toBe(503);
    expect((await api.send("GET", "/healthz")).status).toBe(200);
    await api.postgres.start();
    expect((await api.send("GET", "/readyz")).status).toBe(200);
    expect((await api.send("GET", "/api/v1/runs", { token })).status).toBe(200);
  }, 60_000);
});

function jsonOf(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner)) ?? ""
  );
}
