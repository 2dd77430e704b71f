/** @module Offers states in Terraform's HTTP protocol, as GitLab speaks it, over the tables of the postgres store. */
import { createHash } from "node:crypto";
import { CompiledQuery } from "kysely";
import { type SharedState, type SharedWrite, sharedState } from "../../../index.ts";
import { addAudit } from "../../database/audit.ts";
import type { Database, Tx } from "../../database/connect.ts";
import { noteUnbound } from "../../runs/made-objects.ts";
import { isPlain, objectIn } from "../checks.ts";
import type { Call, Handlers } from "../endpoint.ts";
import { json, Problem } from "../problem.ts";
import { found } from "../rows.ts";

export const stateHandlers: Handlers = {
  async readState(call) {
    const state = stateOf(call);
    const text = await state.read();
    if (text === undefined) found(await state.holder());
    if (text === undefined) return new Response(null, { status: 204 });
    const headers = { "content-type": "application/json", "content-md5": md5(text) };
    return new Response(text, { headers });
  },
  async writeState(call) {
    const { bytes, headers, query, context, caller } = call;
    const { tenant = "", name = "" } = call.path;
    if (![null, md5(bytes)].includes(headers.get("content-md5")))
      throw new Problem("invalid-request", "the body does not fit its Content-MD5");
    const text = bytes.toString("utf8");
    // PostgreSQL stores no null character, and the state must come back byte for byte.
    const { serial, lineage, name: own, resources } = objectIn(bytes) ?? {};
    return context.database.transaction().execute(async (tx) => {
      const state = stateOf(call, tx);
      const before = await state.read();
      // The document of another history, or of another program, would end every run of the manifest.
      const history = objectIn(Buffer.from(before ?? ""))?.["lineage"];
      const isOurs =
        typeof own === "string" && typeof resources === "object" && !Array.isArray(resources ?? []);
      const isNext = history === undefined ? isOurs || !(await isManaged(tx, call)) : history === lineage;
      if (!Number.isSafeInteger(serial) || text.includes("\0") || !isNext) throw new Problem("invalid-state");
      const written = await state.write(text, query.ID ?? "");
      if (written.is !== "written") return refusal(written);
      await noteUnbound(tx, { tenant, name, actor: caller.actor, before });
      return new Response(null);
    });
  },
  async removeState(call) {
    const { context, caller, path, query } = call;
    const { tenant = "", name = "" } = path;
    return context.database.transaction().execute(async (tx) => {
      const state = stateOf(call, tx);
      const before = await state.read();
      const refused = await state.remove(query.ID ?? "");
      if (refused !== undefined) return refusal(refused);
      await noteUnbound(tx, { tenant, name, actor: caller.actor, before });
      await addAudit(tx, { tenant, actor: caller.actor, action: "remove state", subject: name });
      return new Response(null);
    });
  },
  showLock: async (call) => found(await stateOf(call).holder()),
  async lockState(call) {
    // A LockInfo has texts alone.
    const given = Object.entries(objectIn(call.bytes) ?? {}).filter(([, value]) => typeof value === "string");
    const info = Object.fromEntries(given);
    const taken = isPlain(info) ? await stateOf(call).lock(info) : ({ is: "invalid" } as const);
    if (taken.is === "held") return json(409, taken.holder);
    if (taken.is === "invalid")
      throw new Problem("invalid-request", "the body is no LockInfo with an ID of 1 to 255 characters");
    return info;
  },
  async unlockState(call) {
    const { context, caller, path, query, bytes } = call;
    const given = objectIn(bytes) ?? {};
    const id = query.ID ?? given["ID"];
    if (typeof id !== "string" || id === "" || !isPlain(id))
      throw new Problem("invalid-request", "no lock is removed without its ID: add ?ID= to the address");
    return context.database.transaction().execute(async (tx) => {
      const state = stateOf(call, tx);
      const holder = await state.holder();
      if (!(await state.unlock(id))) return refusal({ is: "not-locked", ...(holder && { holder }) });
      // Its holder sends the record that the lock was taken with.
      if (holder !== undefined && given["Who"] !== Reflect.get(holder, "Who")) {
        const { tenant = "", name = "" } = path;
        const act = { tenant, actor: caller.actor, action: "force unlock", subject: name };
        await addAudit(tx, { ...act, details: { holder } });
      }
      return new Response(null);
    });
  },
};

/** The state of a path. Throws `not-found` unless its tenant is one of the configuration. */
function stateOf(
  { context: { database, config }, path: { tenant = "", name = "" } }: Call,
  at: Database | Tx = database,
): SharedState {
  if (!Object.hasOwn(config.current().tenants, tenant)) throw new Problem("not-found");
  return sharedState(async (statement, values = []) => {
    const query = CompiledQuery.raw(statement, [...values]);
    return (await at.executeQuery<{ [column: string]: unknown }>(query)).rows;
  }, `${tenant}/${name}`);
}

async function isManaged(tx: Tx, { path: { tenant = "", name = "" } }: Call): Promise<boolean> {
  const kept = tx.selectFrom("manifests").select("id").where("removed_at", "is", null);
  return (await kept.where((where) => where.and({ tenant, name })).executeTakeFirst()) !== undefined;
}

/** The answer to a refused request: the holder of the lock, or a problem. */
function refusal(refused: SharedWrite): Response {
  if (refused.is === "not-locked" && refused.holder !== undefined) return json(409, refused.holder);
  throw new Problem(refused.is === "written" ? "unexpected" : refused.is);
}

function md5(content: string | Uint8Array): string {
  return createHash("md5").update(content).digest("base64");
}
