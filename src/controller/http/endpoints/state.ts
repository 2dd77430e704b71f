/** @module Offers states in Terraform's HTTP protocol, as GitLab speaks it, over the tables of the postgres store. */
import { createHash } from "node:crypto";
import { CompiledQuery } from "kysely";
import { type SharedState, type SharedWrite, sharedState } from "../../../index.ts";
import { addAudit } from "../../database/audit.ts";
import { isPlain } from "../checks.ts";
import { ref } from "../documents.ts";
import { type Call, type Endpoint, endpoint, json } from "../endpoint.ts";
import { Problem } from "../problem.ts";

const one = "/api/v1/state/{tenant}/{name}";
const lockId = { ID: { type: "string", minLength: 1, maxLength: 255 } } as const;
/** Bytes of a state. */
const maxState = 32 * 1024 * 1024;

export const stateEndpoints: readonly Endpoint[] = [
  endpoint({
    id: "readState",
    method: "GET",
    path: one,
    summary: "Reads a state: 204 if it is locked and has no document yet",
    role: "viewer",
    basic: true,
    answers: { 200: ref("State"), 204: null },
    async handle(call) {
      const state = stateOf(call);
      const text = await state.read();
      if (text === undefined) {
        if ((await state.holder()) === undefined) throw new Problem("not-found");
        return new Response(null, { status: 204 });
      }
      const bytes = Buffer.from(text);
      return new Response(bytes, {
        headers: {
          "content-type": "application/json",
          "cache-control": "no-store",
          "content-md5": md5(bytes),
        },
      });
    },
  }),
  endpoint({
    id: "writeState",
    method: "POST",
    path: one,
    summary: "Stores a state under the lock ID, if no version with its serial is stored",
    role: "approver",
    basic: true,
    query: lockId,
    body: "bytes",
    maxBody: maxState,
    answers: { 200: null, 409: ref("LockInfo") },
    async handle(call) {
      const { bytes, headers, query } = call;
      const digest = headers.get("content-md5");
      if (digest !== null && digest !== md5(bytes))
        throw new Problem("invalid-request", "the body does not fit its Content-MD5");
      const document = objectIn(bytes);
      if (document === undefined || !Number.isSafeInteger(document["serial"]))
        throw new Problem("invalid-state");
      const written = await stateOf(call).write(bytes.toString("utf8"), query.ID ?? "");
      return written.is === "written" ? new Response(null) : refusal(written);
    },
  }),
  endpoint({
    id: "removeState",
    method: "DELETE",
    path: one,
    summary: "Removes a state under the lock ID; earlier versions stay",
    role: "approver",
    basic: true,
    query: lockId,
    answers: { 200: null, 409: ref("LockInfo") },
    async handle(call) {
      const { world, caller, path, query } = call;
      const refused = await stateOf(call).remove(query.ID ?? "");
      if (refused !== undefined) return refusal(refused);
      const { tenant = "", name = "" } = path;
      await world.database
        .transaction()
        .execute((tx) =>
          addAudit(tx, { tenant, actor: caller.actor, action: "remove state", subject: name }),
        );
      return new Response(null);
    },
  }),
  endpoint({
    id: "showLock",
    method: "GET",
    path: `${one}/lock`,
    summary: "Shows the holder of the lock",
    role: "viewer",
    basic: true,
    answers: { 200: ref("LockInfo") },
    async handle(call) {
      const holder = await stateOf(call).holder();
      if (holder === undefined) throw new Problem("not-found");
      return json(200, holder);
    },
  }),
  endpoint({
    id: "lockState",
    method: "POST",
    path: `${one}/lock`,
    summary: "Takes the lock; 409 shows the holder",
    role: "approver",
    basic: true,
    body: "bytes",
    answers: { 200: ref("LockInfo"), 409: ref("LockInfo") },
    async handle(call) {
      const state = stateOf(call);
      const info = objectIn(call.bytes);
      if (info === undefined || !isPlain(info))
        throw new Problem("invalid-request", "the body is no LockInfo");
      const taken = await state.lock(info);
      if (taken.is === "held") return json(409, taken.holder);
      if (taken.is === "invalid")
        throw new Problem("invalid-request", "the ID of the lock has 1 to 255 characters");
      return json(200, info);
    },
  }),
  endpoint({
    id: "unlockState",
    method: "DELETE",
    path: `${one}/lock`,
    summary: "Gives back the lock of exactly this ID, in the query or the body",
    role: "approver",
    basic: true,
    query: lockId,
    body: "bytes",
    answers: { 200: null, 409: ref("LockInfo") },
    async handle(call) {
      const id = call.query.ID ?? objectIn(call.bytes)?.["ID"];
      if (typeof id !== "string" || id === "" || !isPlain(id))
        throw new Problem("invalid-request", "the ID of the lock is missing: no lock is removed without it");
      const state = stateOf(call);
      if (await state.unlock(id)) return new Response(null);
      return refusal({ is: "not-locked", ...asHolder(await state.holder()) });
    },
  }),
];

function asHolder(holder: object | undefined): { readonly holder?: object } {
  return holder === undefined ? {} : { holder };
}

/** The state of a path. Throws `not-found` unless its tenant is one of the configuration. */
function stateOf({ world: { database, config }, path: { tenant = "", name = "" } }: Call): SharedState {
  if (!Object.hasOwn(config.current().tenants, tenant)) throw new Problem("not-found");
  return sharedState(
    async (statement, values = []) =>
      (await database.executeQuery<{ [column: string]: unknown }>(CompiledQuery.raw(statement, [...values])))
        .rows,
    `${tenant}/${name}`,
  );
}

function refusal(refused: SharedWrite): Response {
  if (refused.is === "serial-known") throw new Problem("serial-known");
  if (refused.is === "not-locked" && refused.holder !== undefined) return json(409, refused.holder);
  throw new Problem(refused.is === "not-locked" ? "not-locked" : "changed");
}

function objectIn(bytes: Buffer): { readonly [key: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function md5(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("base64");
}
