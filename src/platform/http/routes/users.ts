/** @module Serves the users host: database users of an instance. */
import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context, Hono } from "hono";
import { defined, isObject, type Json } from "../../../model/json.ts";
import { dropUser, listUsers, putUser } from "../../control/users.ts";
import type { Core } from "../../core.ts";
import { longestLogin } from "../../model/field-rules.ts";
import type { InstanceRecord } from "../../model/records.ts";
import { ServiceError } from "../../model/service-error.ts";
import { largestBody, usersPrefix } from "../contract.ts";
import { usersErrorFormat } from "../error-format.ts";
import { type Env, type Exchange, serve } from "../exchange.ts";
import { bearerOf, pathParam } from "./router.ts";

type UserHandler = (
  context: Context<Env>,
  record: InstanceRecord,
  body: UserBody,
) => Response | Promise<Response>;

interface UserBody {
  readonly username?: string;
  readonly password?: string;
  readonly acl?: string;
}

const base = `${usersPrefix}/instances/:id/users`;
const shortest: { readonly [key in keyof UserBody]-?: number } = { username: 3, password: 6, acl: 1 };

/**
 * Registers the operations on database users (specification 4.2). Checks run in the host's order: rate, body and query (400), token
 * (401), instance (500 for an unknown one), subscription (400), ACL (400).
 */
export function userEndpoints(app: Hono<Env>, core: Core): void {
  const rate = createRateLimit(core.settings.usersPerMinute, core.elapsed);
  const isSignedIn = (context: Context<Env>): boolean =>
    core.sessions.userOf(bearerOf(context) ?? "") !== undefined;

  const route = (
    method: string,
    path: string,
    operation: string,
    required: readonly (keyof UserBody)[] | undefined,
    handler: UserHandler,
  ): void => {
    const admit = (context: Context<Env>): void => {
      const wait = rate.exceeded(getConnInfo(context).remote.address ?? "");
      if (wait !== undefined)
        throw new ServiceError(429, `Rate limit exceeded, retry in ${wait} seconds`, wait);
    };
    const checked = (context: Context<Env>, exchange: Exchange): Response | Promise<Response> => {
      const body = required === undefined ? {} : readUser(exchange.body ?? null, required);
      const subscription = context.req.query("subscriptionId") ?? "";
      if (subscription === "")
        throw new ServiceError(400, "querystring must have required property 'subscriptionId'");
      if (!isSignedIn(context))
        throw new ServiceError(401, "the bearer token is missing, invalid or has expired");
      return handler(context, instanceOf(core, pathParam(context, "id"), subscription), body);
    };
    const served = { name: operation, admit, isSignedIn, largestBody, handler: checked };
    app.on(method, path, (context) => serve(core, usersErrorFormat, served, context));
  };

  route("GET", base, "list-users", undefined, (context, record) =>
    context.json({ users: listUsers(record) }),
  );

  route("POST", base, "create-user", ["username", "password", "acl"], async (context, record, body) => {
    const { username = "", password, acl } = body;
    if (password !== undefined) core.secrets.add(password);
    await putUser(core, record.id, username, { password, acl }, true);
    return context.json({ message: `User ${username} created` });
  });

  route("PUT", `${base}/:username`, "update-user", [], async (context, record, { password, acl }) => {
    const username = pathParam(context, "username");
    if (password !== undefined) core.secrets.add(password);
    if (password !== undefined || acl !== undefined)
      await putUser(core, record.id, username, { password, acl }, false);
    return context.json({ message: `User ${username} updated` });
  });

  route("DELETE", `${base}/:username`, "delete-user", undefined, async (context, record) => {
    const username = pathParam(context, "username");
    await dropUser(core, record.id, username);
    return context.json({ message: `User ${username} deleted` });
  });
}

function readUser(body: Json, required: readonly (keyof UserBody)[]): UserBody {
  if (body === null && required.length === 0) return {};
  if (!isObject(body)) throw new ServiceError(400, "body must be object");
  const read = (key: keyof UserBody): string | undefined => {
    const value = body[key];
    if (value === undefined && required.includes(key))
      throw new ServiceError(400, `body must have required property '${key}'`);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw new ServiceError(400, `body/${key} must be string`);
    if (value.length < shortest[key]) {
      throw new ServiceError(400, `body/${key} must NOT have fewer than ${shortest[key]} characters`);
    }
    if (key !== "acl" && Buffer.byteLength(value) > longestLogin)
      throw new ServiceError(400, `body/${key} must NOT have more than ${longestLogin} bytes`);
    return value;
  };
  const [username, password, acl] = [read("username"), read("password"), read("acl")];
  if (username !== undefined && /[\s\0]/.test(username))
    throw new ServiceError(400, "body/username must not contain spaces");
  return {
    ...defined({ username, password, acl }),
  };
}

function instanceOf(core: Core, id: string, subscription: string): InstanceRecord {
  const record = core.store.instances.get(id);
  if (record === undefined || record.isAccount) throw new ServiceError(500, "Failed to look up the instance");
  if (record.subscriptionId !== undefined && record.subscriptionId !== subscription) {
    throw new ServiceError(400, "the instance belongs to another subscription");
  }
  return record;
}

/** A counter of requests by address, in windows of one minute. */
interface RateLimit {
  /** Counts a request. Seconds until the window ends where it exceeds the limit; undefined where it is allowed. */
  exceeded(address: string): number | undefined;
}

const windowMs = 60_000;

/** `elapsed` gives monotonic milliseconds: a system clock that is set back would keep a window open for days. */
function createRateLimit(perMinute: number, elapsed: () => number): RateLimit {
  const windows = new Map<string, { start: number; count: number }>();
  return {
    exceeded(address) {
      const time = elapsed();
      const known = windows.get(address);
      const current =
        known !== undefined && time - known.start < windowMs ? known : { start: time, count: 0 };
      current.count += 1;
      if (windows.size > 10_000) windows.clear();
      windows.set(address, current);
      return current.count > perMinute ? Math.ceil((current.start + windowMs - time) / 1000) : undefined;
    },
  };
}
