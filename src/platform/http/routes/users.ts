/** @module Serves the users host: database users of an instance. */
import { getConnInfo } from "@hono/node-server/conninfo";
import { defined, isObject, type Json, type JsonObject } from "../../../model/json.ts";
import { dropUser, listUsers, putUser } from "../../control/users.ts";
import type { Core } from "../../core.ts";
import { maxLogin } from "../../model/field-rules.ts";
import type { InstanceRecord } from "../../model/records.ts";
import { ServiceError } from "../../model/service-error.ts";
import { maxBody } from "../contract.ts";
import type { Call, Route } from "../exchange.ts";
import { bearerOf, pathParam } from "./router.ts";

type UserHandler = (call: Call, record: InstanceRecord, body: UserBody) => JsonObject | Promise<JsonObject>;

type UserKey = "username" | "password" | "acl";
type UserBody = { readonly [key in UserKey]?: string };

const base = "/v1/customer-ldap/instances/:id/users";
const minLength: { readonly [key in UserKey]: number } = { username: 3, password: 6, acl: 1 };

/** Method, path, name, and required keys of the body (undefined: no body is read). */
const rows: readonly (readonly [string, string, string, readonly UserKey[] | undefined, UserHandler])[] = [
  ["GET", base, "list-users", undefined, (_call, record) => ({ users: listUsers(record) })],
  ["POST", base, "create-user", ["username", "password", "acl"], createUser],
  ["PUT", `${base}/:username`, "update-user", [], updateUser],
  ["DELETE", `${base}/:username`, "delete-user", undefined, deleteUser],
];

/**
 * Operations on database users (specification 4.2). Checks run in the host's order: rate, body and query (400), token (401),
 * instance (500 for an unknown one), subscription (400), ACL (400).
 */
export function userRoutes(core: Core): readonly Route[] {
  const waitFor = createRateLimit(core.settings.usersPerMinute, core.settings.elapsed);
  return rows.map(([method, path, name, required, handler]) => ({
    method,
    path,
    name,
    maxBody,
    admit(_core, context) {
      const wait = waitFor(getConnInfo(context).remote.address ?? "");
      if (wait !== undefined)
        throw new ServiceError(429, `Rate limit exceeded, retry in ${wait} seconds`, wait);
      return core.sessions.userOf(bearerOf(context) ?? "");
    },
    handler(call) {
      const body = required === undefined ? {} : readUser(call.body ?? null, required);
      const subscription = call.context.req.query("subscriptionId") ?? "";
      if (subscription === "")
        throw new ServiceError(400, "querystring must have required property 'subscriptionId'");
      if (call.user === undefined)
        throw new ServiceError(401, "the bearer token is missing, invalid or has expired");
      return handler(call, instanceOf(core, pathParam(call, "id"), subscription), body);
    },
  }));
}

async function createUser({ core }: Call, { id }: InstanceRecord, body: UserBody): Promise<JsonObject> {
  const { username = "", password, acl } = body;
  await putUser(core, id, username, { password, acl }, true);
  return { message: `User ${username} created` };
}

async function updateUser(call: Call, { id }: InstanceRecord, body: UserBody): Promise<JsonObject> {
  const { core } = call;
  const { password, acl } = body;
  const username = pathParam(call, "username");
  if (password !== undefined || acl !== undefined)
    await putUser(core, id, username, { password, acl }, false);
  return { message: `User ${username} updated` };
}

async function deleteUser(call: Call, { id }: InstanceRecord): Promise<JsonObject> {
  const username = pathParam(call, "username");
  await dropUser(call.core, id, username);
  return { message: `User ${username} deleted` };
}

function readUser(body: Json, required: readonly UserKey[]): UserBody {
  if (body === null && required.length === 0) return {};
  if (!isObject(body)) throw new ServiceError(400, "body must be object");
  const read = (key: UserKey): string | undefined => {
    const value = body[key];
    if (value === undefined && required.includes(key))
      throw new ServiceError(400, `body must have required property '${key}'`);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw new ServiceError(400, `body/${key} must be string`);
    if (value.length < minLength[key])
      throw new ServiceError(400, `body/${key} must NOT have fewer than ${minLength[key]} characters`);
    if (key !== "acl" && Buffer.byteLength(value) > maxLogin)
      throw new ServiceError(400, `body/${key} must NOT have more than ${maxLogin} bytes`);
    return value;
  };
  const [username, password, acl] = [read("username"), read("password"), read("acl")];
  if (username !== undefined && /[\s\0]/.test(username))
    throw new ServiceError(400, "body/username must not contain spaces");
  return defined({ username, password, acl });
}

function instanceOf(core: Core, id: string, subscription: string): InstanceRecord {
  const record = core.store.instances.get(id);
  if (record === undefined || record.isAccount) throw new ServiceError(500, "Failed to look up the instance");
  if (record.subscriptionId !== undefined && record.subscriptionId !== subscription)
    throw new ServiceError(400, "the instance belongs to another subscription");
  return record;
}

const windowMs = 60_000;

/**
 * Counts requests by address in windows of a minute; gives the seconds to wait if one exceeds the limit. `elapsed` is
 * monotonic: a clock that is set back would keep a window open for days.
 */
function createRateLimit(perMinute: number, elapsed: () => number): (address: string) => number | undefined {
  const windows = new Map<string, { start: number; count: number }>();
  return (address) => {
    const time = elapsed();
    const known = windows.get(address);
    const current = known !== undefined && time - known.start < windowMs ? known : { start: time, count: 0 };
    current.count += 1;
    if (windows.size > 10_000) windows.clear();
    windows.set(address, current);
    return current.count > perMinute ? Math.ceil((current.start + windowMs - time) / 1000) : undefined;
  };
}
