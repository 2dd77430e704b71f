import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { roles } from "../../../src/controller/database/schema.ts";
import { documentPath, endpoints } from "../../../src/controller/http/app.ts";
import type { Endpoint } from "../../../src/controller/http/endpoint.ts";
import { addToken, allows, hashOf, revokeToken } from "../../../src/controller/http/tokens.ts";
import { type Contract, readContract } from "../../openapi/contract.ts";
import { files, openApi, type SendOptions, type Sent, type TestApi } from "./open-api.ts";

const source = { type: "upload" } as const;
/** A body for each endpoint that takes one. */
const bodies: { readonly [id: string]: unknown } = {
  addManifest: { tenant: "shop", name: "another", source, files },
  changeManifest: { intervalSeconds: 900 },
  uploadFiles: { files: { "graphform.yaml": "apiVersion: graphform/v1\nname: newer\n" } },
  reconcile: {},
  pause: { until: null },
  approve: { fingerprint: "f1" },
  discard: {},
  cancel: { force: false },
  redrive: {},
  lockState: { ID: "l1", Operation: "apply", Info: "", Who: "a@b", Version: "", Created: "", Path: "" },
};
const inPath = { tenant: "shop", name: "orders" } as const;

describe("access to the API", () => {
  let api: TestApi;
  let run = "";
  let expired = "";
  let revoked = "";
  let contract: Contract;
  const folder = mkdtempSync(join(tmpdir(), "graphform-openapi-"));

  beforeAll(async () => {
    api = await openApi();
    ({ run } = await api.add("shop", "orders"));
    const bank = await api.add("bank", "vault");
    await api.put(bank.run, { status: "needs_approval", fingerprint: "f1", plan: { secret: "of the bank" } });
    const about = { name: "gone", role: "admin", tenant: "shop", actor: "the test" } as const;
    const within = api.database.transaction();
    const before = { ...about, expiresAt: new Date(Date.now() - 1000) };
    expired = (await within.execute((tx) => addToken(tx, before))).token;
    const { id, token } = await within.execute((tx) => addToken(tx, about));
    revoked = token;
    await revokeToken(api.database, { id, actor: "the test" });
    const file = join(folder, "openapi.json");
    writeFileSync(file, (await api.send("GET", documentPath)).text);
    contract = readContract(pathToFileURL(file).href);
  }, 120_000);
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await api?.close();
  });

  const pathOf = (row: Endpoint, names: { readonly [name: string]: string } = { ...inPath, run }): string =>
    row.path.replace(/\{(\w+)\}/g, (_all, name: string) => names[name] ?? "");
  const call = (
    row: Endpoint,
    token: string | undefined,
    names?: { readonly [name: string]: string },
  ): Promise<Sent> => api.send(row.method, pathOf(row, names), { token, body: bodies[row.id] });
  /** Everything about a request and its answer that the document does not say. */
  const faultsOf = (
    row: Endpoint,
    names: { readonly [name: string]: string },
    token: string | undefined,
    sent: Sent,
  ): readonly string[] => faultsIn(row, pathOf(row, names), { token, body: bodies[row.id] }, sent);
  const faultsIn = (
    row: Pick<Endpoint, "id" | "method">,
    path: string,
    { token, body }: SendOptions,
    sent: Sent,
  ): readonly string[] => {
    const method = row.method as "GET";
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const asked = { method, path, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const faults = contract.requestFaults(asked);
    if (contract.operationOf(method, path) !== row.id) return [`${method} ${path} is another operation`];
    if (!(sent.headers.get("content-type") ?? "").includes("json")) return faults;
    const answer = { status: sent.status, headers: Object.fromEntries(sent.headers), body: sent.text };
    return [...faults, ...contract.answerFaults(asked, answer)];
  };
  const guarded = endpoints.filter(({ role }) => role !== "public");

  it("is asked for by all but the endpoints that show no manifest and the signed webhooks", () => {
    const open = endpoints.filter(({ role }) => role === "public").map(({ id }) => id);
    expect(open.sort()).toEqual(["githubHook", "gitlabHook", "health", "readiness"]);
  });

  it("is refused to all but the public endpoints without a token, and with one that is unknown, expired or revoked", async () => {
    for (const row of guarded) {
      expect([row.id, (await call(row, undefined)).status]).toEqual([row.id, 401]);
      for (const token of [expired, revoked, "gft_unknown"]) {
        const { status, json } = await call(row, token);
        expect([row.id, status, json]).toEqual([
          row.id,
          401,
          expect.objectContaining({ code: "invalid-token" }),
        ]);
      }
    }
  });

  it("is refused to each role below the one of the endpoint, and to a tenant's token where all tenants are concerned", async () => {
    for (const row of guarded)
      for (const role of roles) {
        const isAllowed = allows(role, row.role === "public" ? "viewer" : row.role) && row.scope !== "all";
        if (isAllowed) continue;
        const { status, json } = await call(row, api.tokens[role]);
        expect([row.id, role, status, json]).toEqual([
          row.id,
          role,
          403,
          expect.objectContaining({ code: "forbidden" }),
        ]);
      }
  });

  it("is given to each role from the one of the endpoint on, with answers that the document promises", async () => {
    const seen = new Set<string>();
    for (const row of endpoints)
      for (const role of [...roles, "all"] as const) {
        const { role: needed, scope } = row;
        if (needed !== "public" && role !== "all" && (!allows(role, needed) || scope === "all")) continue;
        const names = await freshNames(api, row);
        const token = needed === "public" ? undefined : api.tokens[role];
        const sent = await call(row, token, names);
        seen.add(`${row.id} ${sent.status}`);
        expect([row.id, role, [401, 403, 500, 503].includes(sent.status) && needed !== "public"]).toEqual([
          row.id,
          role,
          false,
        ]);
        expect([row.id, role, faultsOf(row, names, token, sent)]).toEqual([row.id, role, []]);
      }
    expect(api.troubles).toEqual([]);
    // These answer as usual only after one another, or to a signature.
    const state = "/api/v1/state/shop/played";
    const { approver: token } = api.tokens;
    process.env["HOOK_SECRET_OF_ACCESS"] = "hook secret";
    api.config.hooks = { github: { env: "HOOK_SECRET_OF_ACCESS" }, gitlab: { env: "HOOK_SECRET_OF_ACCESS" } };
    const signature = createHmac("sha256", "hook secret").update("{}").digest("hex");
    const played: readonly (readonly [id: string, path: string, options: SendOptions])[] = [
      ["lockState", `${state}/lock`, { token, body: bodies["lockState"] }],
      ["writeState", `${state}?ID=l1`, { token, body: { serial: 1, lineage: "l" } }],
      ["readState", state, { token }],
      ["showLock", `${state}/lock`, { token }],
      ["removeState", `${state}?ID=l1`, { token }],
      ["unlockState", `${state}/lock?ID=l1`, { token }],
      [
        "githubHook",
        "/hooks/github",
        { body: {}, headers: { "x-hub-signature-256": `sha256=${signature}`, "x-github-event": "ping" } },
      ],
      [
        "gitlabHook",
        "/hooks/gitlab",
        { body: {}, headers: { "x-gitlab-token": "hook secret", "x-gitlab-event": "Push Hook" } },
      ],
    ];
    for (const [id, path, options] of played) {
      const { method = "" } = endpoints.find((row) => row.id === id) ?? {};
      const sent = await api.send(method, path, options);
      seen.add(`${id} ${sent.status}`);
      expect([id, sent.status, faultsIn({ id, method }, path, options, sent)]).toEqual([id, sent.status, []]);
    }
    const unseen = endpoints.filter(({ id, answers }) => !seen.has(`${id} ${Object.keys(answers)[0]}`));
    expect(unseen.map(({ id }) => id)).toEqual([]);
  }, 120_000);

  it("shows a tenant's token nothing of another tenant: what exists there is answered like what does not", async () => {
    const shop = await api.add("shop", "private");
    await api.put(shop.run, { status: "needs_approval", fingerprint: "f1", plan: { a: 1 } });
    const unknownRun = "00000000-0000-4000-8000-000000000000";
    for (const row of guarded.filter(({ path, scope }) => path.includes("{") && scope === undefined)) {
      const theirs = await call(row, api.tokens.bank, { tenant: "shop", name: "private", run: shop.run });
      const absent = await call(row, api.tokens.bank, { tenant: "shop", name: "absent", run: unknownRun });
      const nowhere = await call(row, api.tokens.bank, {
        tenant: "no-tenant",
        name: "absent",
        run: unknownRun,
      });
      expect([row.id, theirs.status, theirs.text]).toEqual([row.id, 404, absent.text]);
      expect([row.id, nowhere.status, nowhere.text]).toEqual([row.id, 404, absent.text]);
    }
    for (const row of guarded.filter(
      ({ path, method, scope }) => !path.includes("{") && method === "GET" && scope === undefined,
    )) {
      const all = await call(row, api.tokens.bank);
      expect([row.id, all.status, /shop|orders|private/.test(all.text)]).toEqual([row.id, 200, false]);
      if (row.query?.tenant === undefined) continue;
      const asked = await api.send("GET", `${row.path}?tenant=shop`, { token: api.tokens.bank });
      const other = await api.send("GET", `${row.path}?tenant=no-tenant`, { token: api.tokens.bank });
      expect([row.id, asked.status, asked.text]).toEqual([row.id, 200, other.text]);
    }
    const failed = await api.add("shop", "failed");
    await api.put(failed.run, { status: "errored", ended_at: new Date() });
    for (const query of ["", "?tenant=shop"]) {
      const redriven = await api.send("POST", `/api/v1/redrive${query}`, {
        token: api.tokens.bank,
        body: {},
      });
      expect([redriven.status, redriven.json]).toEqual([202, { runs: [] }]);
    }
    const body = { tenant: "shop", name: "x", source, files };
    const added = await api.send("POST", "/api/v1/manifests", { token: api.tokens.bank, body });
    const nowhere = await api.send("POST", "/api/v1/manifests", {
      token: api.tokens.bank,
      body: { ...body, tenant: "none" },
    });
    expect([added.status, added.text]).toEqual([404, nowhere.text]);
    const metrics = await api.send("GET", "/metrics", { token: api.tokens.bank });
    expect(metrics.text).toContain('graphform_manifests{status="waiting"} 1');
    expect(metrics.text).not.toMatch(/queue_ready|http_requests|workers/);
  });

  it("has tokens whose hashes alone are stored, and writes down who makes and revokes them", async () => {
    const rows = await api.postgres.sql("SELECT * FROM graphform.tokens");
    const stored = JSON.stringify(rows);
    for (const token of Object.values(api.tokens)) {
      expect(stored).not.toContain(token);
      expect(stored).toContain(hashOf(token));
    }
    const audit = await api.send("GET", "/api/v1/audit?limit=500", { token: api.tokens.all });
    expect(audit.text).toContain("create token");
    expect(audit.text).toContain("revoke token");
    const check = await api.send("GET", "/api/v1/audit/check", { token: api.tokens.all });
    expect(check.json).toEqual({ firstBroken: null });
  });

  it("is described by a document that OpenAPI's own schema takes, with every route of the application", async () => {
    const { json } = await api.send("GET", documentPath);
    const schema = new URL("../../openapi/openapi-3.1.schema.json", import.meta.url);
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(readFileSync(schema, "utf8")),
    );
    expect([validate(json), validate.errors]).toEqual([true, null]);
    expect(validate({ ...(json as object), paths: { "/x": { get: { responses: { ok: 1 } } } } })).toBe(false);
    const documented = endpoints.map(({ path }) => path.replace(/\{(\w+)\}/g, ":$1"));
    const routes = api.app().routes.map(({ path }) => path);
    expect(new Set(routes)).toEqual(new Set([...documented, documentPath]));
    expect([...contract.operations].sort()).toEqual(endpoints.map(({ id }) => id).sort());
  });

  it("is described by a document whose schemas compile, whose references lead somewhere and whose ids are unique", async () => {
    const { json } = await api.send("GET", documentPath);
    const document = json as { readonly paths: object; readonly components: { readonly schemas: object } };
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: "doc", ...document });
    for (const name of Object.keys(document.components.schemas))
      expect(() => ajv.compile({ $ref: `doc#/components/schemas/${name}` })).not.toThrow();
    expect(new Set(contract.operations).size).toBe(endpoints.length);
    for (const [, target = ""] of JSON.stringify(document).matchAll(
      /"\$ref":"#\/components\/schemas\/(\w+)"/g,
    ))
      expect(document.components.schemas).toHaveProperty(target);
  });
});

/** Names for a path on which the endpoint can do its work: a manifest of its own, a run that waits. */
async function freshNames(
  api: TestApi,
  { id, path }: Endpoint,
): Promise<{ readonly [name: string]: string }> {
  if (!path.includes("{")) {
    if (id === "addManifest")
      await api.send("DELETE", "/api/v1/manifests/shop/another", { token: api.tokens.admin });
    return {};
  }
  fresh += 1;
  const name = `fresh-${fresh}`;
  const { run } = await api.add("shop", name);
  await api.put(run, { status: "needs_approval", fingerprint: "f1", plan: { changes: [] } });
  // A stream that ends: of a run that has ended.
  if (id === "followRun") await api.put(run, { status: "applied", ended_at: new Date() });
  return { tenant: "shop", name, run };
}

let fresh = 0;
