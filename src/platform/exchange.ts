import { setTimeout as sleep } from "node:timers/promises";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import type { Json } from "../model/json.ts";
import { errorMediaType, sessionCookie } from "./contract.ts";
import type { Core } from "./core.ts";
import type { Fault } from "./fault-rule.ts";
import { redactBody, secretsIn } from "./known-secrets.ts";
import { readBody } from "./read-body.ts";
import { errorBody, ServiceError } from "./service-error.ts";

/** What a route reads of its request. */
export interface Exchange {
  readonly fault: Fault;
  /** The parsed body; undefined when none was sent. Throws 400 where it is no JSON. */
  json(): Json | undefined;
}

export type Handler = (context: Context<Env>, exchange: Exchange) => Response | Promise<Response>;

export interface Env {
  Bindings: HttpBindings;
}

/** How one host speaks: who may come in, and how errors look. */
export interface HostManner {
  readonly name: "platform" | "users";
  readonly error: (status: number, message: string) => Response;
}

/** Errors of the platform host: specification 7. */
export const platformManner: HostManner = {
  name: "platform",
  error: (status, message) =>
    new Response(JSON.stringify(errorBody(status, message)), {
      status,
      headers: { "content-type": errorMediaType },
    }),
};

/**
 * One request from its arrival to its line in the log: faults before the work, the handler, faults after it.
 * A ServiceError becomes the host's error shape; anything else a 500 that says nothing of the inside.
 */
export async function serve(
  core: Core,
  manner: HostManner,
  operation: string,
  context: Context<Env>,
  handler: Handler,
): Promise<Response> {
  const started = performance.now();
  const { method, path } = context.req;
  core.faults.enter();
  let body: Parsed = {};
  let answer: Response | "cut" = "cut";
  let fault: Fault = {};
  try {
    body = await readJson(context, manner);
    fault = core.faults.strike({ method, path, operation });
    const work = async (): Promise<Response> =>
      body.refusal ??
      (await answerOf(core, manner, () => handler(context, { fault, json: () => body.value })));
    answer = await underFault(fault, manner, work);
    if (answer !== "cut") return answer;
    context.env.incoming.socket.destroy();
    return RESPONSE_ALREADY_SENT;
  } finally {
    core.faults.leave();
    const status = answer === "cut" ? 0 : answer.status;
    record(core, manner, operation, context, { body, fault, status, ms: performance.now() - started });
  }
}

interface Parsed {
  readonly value?: Json;
  readonly refusal?: Response;
}

async function readJson(context: Context<Env>, manner: HostManner): Promise<Parsed> {
  if (context.req.method === "GET") return {};
  const text = await readBody(context.req.raw);
  if (text === undefined) {
    const refusal = manner.error(413, "the body is larger than 1 MiB");
    refusal.headers.set("connection", "close");
    return { refusal };
  }
  if (text === "") return {};
  const type = context.req.header("content-type") ?? "application/json";
  if (!/^application\/([a-z0-9.-]+\+)?json\b/i.test(type)) {
    return { refusal: manner.error(415, "the body must be application/json") };
  }
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { refusal: manner.error(400, "the body is not valid JSON") };
  }
}

async function answerOf(
  core: Core,
  manner: HostManner,
  work: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError) return manner.error(error.status, error.message);
    core.events.add("", `internal error: ${error instanceof Error ? error.message : String(error)}`, true);
    return manner.error(500, "the platform failed to answer this request");
  }
}

async function underFault(
  fault: Fault,
  manner: HostManner,
  work: () => Promise<Response>,
): Promise<Response | "cut"> {
  if (fault.latency !== undefined) await sleep(fault.latency);
  if (fault.reset === "before") return "cut";
  if (fault.hang !== undefined) {
    if (fault.work === true) await work();
    await sleep(fault.hang, undefined, { ref: false });
    return "cut";
  }
  if (fault.reset === "after") {
    await work();
    return "cut";
  }
  const done = fault.status === undefined || fault.work === true ? await work() : undefined;
  const { status = done?.status ?? 200, body, retryAfter } = fault;
  if (done !== undefined && fault.status === undefined && body === undefined && retryAfter === undefined)
    return done;
  const said = fault.status === undefined ? done : manner.error(status, `fault on request: status ${status}`);
  const headers = new Headers(said?.headers);
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  const isBodiless = status === 204 || status === 205 || status === 304;
  return new Response(isBodiless ? null : (body ?? (await said?.text()) ?? null), { status, headers });
}

interface Exchanged {
  readonly body: Parsed;
  readonly fault: Fault;
  readonly status: number;
  readonly ms: number;
}

function record(
  core: Core,
  manner: HostManner,
  operation: string,
  context: Context<Env>,
  done: Exchanged,
): void {
  const { method, path, url } = context.req;
  const notes: string[] = [];
  if (done.body.value !== undefined)
    for (const secret of secretsIn(done.body.value)) core.secrets.add(secret);
  const logged = done.body.value === undefined ? undefined : redactBody(done.body.value, core.secrets);
  for (const place of logged?.misplaced ?? []) notes.push(`a secret stands in the body at ${place}`);
  const query = url.includes("?") ? [...new URL(url).searchParams] : [];
  for (const [name, value] of query) {
    if (/pass|secret|token/i.test(name) || core.secrets.redact(value) !== value)
      notes.push(`a secret stands in query ${name}`);
  }
  const segments = path.split("/");
  const clean = segments.map((segment) => (core.secrets.has(decoded(segment)) ? "[redacted]" : segment));
  if (clean.some((segment, index) => segment !== segments[index])) notes.push("a secret stands in the path");
  const authorization = context.req.header("authorization");
  if (authorization !== undefined && /^basic /i.test(authorization) && operation !== "signin") {
    notes.push("basic credentials were sent to something that is not sign-in");
  }
  if (
    manner.name === "users" &&
    context.req.header("cookie")?.includes(`${sessionCookie}=`) &&
    !core.sharesPort
  ) {
    notes.push("a session cookie was sent to the users host");
  }
  const faults = Object.keys(done.fault);
  core.log.add({
    time: new Date(core.now()).toISOString(),
    host: manner.name,
    method,
    path: clean.join("/"),
    operation,
    query: query.map(([name]) => name),
    status: done.status,
    ms: Math.round(done.ms * 10) / 10,
    ...(logged === undefined ? {} : { body: logged.body }),
    ...(faults.length === 0 ? {} : { fault: faults }),
    ...(notes.length === 0 ? {} : { notes }),
  });
}

function decoded(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
