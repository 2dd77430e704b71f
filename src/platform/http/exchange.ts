/** @module Serves one request: session check, body, faults, handler, error format, request log. */
import { setTimeout as sleep } from "node:timers/promises";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import { defined, type Json, type JsonObject } from "../../model/json.ts";
import type { Fault } from "../control/faults.ts";
import type { Core } from "../core.ts";
import { ServiceError } from "../model/service-error.ts";
import { type BodyReader, type ErrorFormat, openBody, parseJson } from "./contract.ts";
import { redactBody, secretsIn } from "./request-log.ts";

export interface Call {
  readonly core: Core;
  readonly context: Context<Env>;
  readonly fault: Fault;
  /** The signed-in user; undefined for an anonymous client. */
  readonly user: string | undefined;
  readonly body: Json | undefined;
}

/** An object is the body of the answer; nothing is 202 with an empty body: accepted, done in the background. */
export type Handler = (
  call: Call,
) => Response | JsonObject | Promise<Response> | Promise<JsonObject> | Promise<void>;

export interface Env {
  Bindings: HttpBindings;
}

export interface Operation {
  /** Name in fault rules and in the request log. */
  readonly name: string;
  /** The signed-in user; all others share a small budget for bodies. Throws ServiceError to refuse, before the body is read. */
  readonly admit: (core: Core, context: Context<Env>) => string | undefined;
  /** Maximum size of the body, in bytes. */
  readonly maxBody: number;
  readonly handler: Handler;
  /** Status of an answer with a JSON body. Default 200. */
  readonly status?: 202 | undefined;
}

export interface Route extends Operation {
  readonly method: string;
  readonly path: string;
}

/** An operation below the version of the platform host. */
export type Row = readonly [method: string, path: string, name: string, handler: Handler, status?: 202];

/** Answers a request. A ServiceError becomes an error of the host, any other error a 500 without details. */
export async function serve(
  core: Core,
  format: ErrorFormat,
  operation: Operation,
  context: Context<Env>,
): Promise<Response> {
  const started = performance.now();
  const { method, path } = context.req;
  core.faults.enter();
  const seen: { user?: string | undefined; body?: Json | undefined; text?: string; reader?: BodyReader } = {};
  let answer: Response | "cut" = "cut";
  let fault: Fault = {};
  try {
    const refusal = await answerOf(core, format, context, async () => {
      seen.user = operation.admit(core, context);
      if (method === "GET") return undefined;
      const budget = core.bodyBudgets[seen.user === undefined ? "anonymous" : "signedIn"];
      seen.reader = openBody(context.req.raw, operation.maxBody, budget);
      seen.text = await seen.reader.read();
      seen.body = parseJson(seen.text, context.req.header("content-type"));
      return undefined;
    });
    fault = core.faults.match({ method, path, operation: operation.name });
    const work = async (): Promise<Response> => {
      const { user, body } = seen;
      return respond(
        context,
        await operation.handler({ core, context, fault, user, body }),
        operation.status,
      );
    };
    answer = await underFault(
      fault,
      format,
      async () => refusal ?? (await answerOf(core, format, context, work)),
    );
    if (answer !== "cut") return answer;
    context.env.incoming.socket.destroy();
    return RESPONSE_ALREADY_SENT;
  } finally {
    core.faults.leave();
    seen.reader?.release();
    const status = answer === "cut" ? 0 : answer.status;
    const ms = performance.now() - started;
    const { user, body, text } = seen;
    logRequest(core, format.name, operation.name, context, { text, body, user, fault, status, ms });
  }
}

export function respond(
  context: Context<Env>,
  answer: Awaited<ReturnType<Handler>>,
  status: 200 | 202 = 200,
): Response {
  if (answer instanceof Response) return answer;
  return answer === undefined ? new Response(null, { status: 202 }) : context.json(answer, status);
}

export async function answerOf<T>(
  core: Core,
  format: ErrorFormat,
  context: Context<Env>,
  work: () => T | Promise<T>,
): Promise<T | Response> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError) return refusalOf(format, context, error);
    core.events.add("", `internal error: ${error instanceof Error ? error.message : String(error)}`, true);
    return format.error(500, "the platform failed to answer this request");
  }
}

/** The error answer of a refusal. A chunked body is not read to its end, so its connection is closed. */
function refusalOf(format: ErrorFormat, context: Context<Env>, error: ServiceError): Response {
  const { status, message, retryAfter } = error;
  const refusal = format.error(status, message);
  if (context.req.header("transfer-encoding") !== undefined) refusal.headers.set("connection", "close");
  if (retryAfter !== undefined) refusal.headers.set("retry-after", String(retryAfter));
  return refusal;
}

/** Calls `work` as the fault says: late, never, or with another answer. "cut": the connection is to be cut without an answer. */
async function underFault(
  fault: Fault,
  format: ErrorFormat,
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
  const said = fault.status === undefined ? done : format.error(status, `fault on request: status ${status}`);
  const headers = new Headers(said?.headers);
  if (retryAfter !== undefined) headers.set("retry-after", String(retryAfter));
  const isBodiless = status === 204 || status === 205 || status === 304;
  return new Response(isBodiless ? null : (body ?? (await said?.text()) ?? null), { status, headers });
}

interface RequestResult extends Omit<Call, "core" | "context"> {
  readonly text: string | undefined;
  readonly status: number;
  readonly ms: number;
}

/** Maximum length of a logged body, in characters. */
const maxLogged = 16 * 1024;
const maxNotes = 10;

function logRequest(
  core: Core,
  host: ErrorFormat["name"],
  operation: string,
  context: Pick<Context, "req">,
  result: RequestResult,
): void {
  const { method, path, url } = context.req;
  const notes: string[] = [];
  const logged = loggedBody(core, result);
  for (const place of logged.misplaced) notes.push(`a secret is in the body at ${place}`);
  const query = url.includes("?") ? [...new URL(url).searchParams] : [];
  for (const [name, value] of query) {
    if (/pass|secret|token/i.test(name) || core.secrets.redact(value) !== value)
      notes.push(`a secret is in query ${name}`);
  }
  const segments = path.split("/");
  const clean = segments.map((segment) => (core.secrets.has(decoded(segment)) ? "[redacted]" : segment));
  if (clean.some((segment, index) => segment !== segments[index])) notes.push("a secret is in the path");
  const authorization = context.req.header("authorization");
  if (authorization !== undefined && /^basic /i.test(authorization) && operation !== "signin")
    notes.push("basic credentials were sent to something that is not sign-in");
  if (
    host === "users" &&
    context.req.header("cookie")?.includes(`${core.dialect.cookies.session}=`) &&
    !core.sharesPort
  ) {
    notes.push("a session cookie was sent to the users host");
  }
  const faults = Object.keys(result.fault);
  core.log.add({
    time: new Date(core.settings.now()).toISOString(),
    host,
    method,
    path: clean.join("/"),
    operation,
    query: query.map(([name]) => name),
    status: result.status,
    ms: Math.round(result.ms * 10) / 10,
    ...defined({ body: logged.body }),
    ...(faults.length === 0 ? {} : { fault: faults }),
    ...(notes.length === 0 ? {} : { notes: notes.slice(0, maxNotes) }),
  });
}

/** The body without secrets. Secrets of trusted requests are remembered; anonymous clients could send any number of them. */
function loggedBody(
  core: Core,
  { text = "", body, user, status }: RequestResult,
): { readonly body?: Json; readonly misplaced: readonly string[] } {
  if (body === undefined) return { misplaced: [] };
  if (text.length > maxLogged) return { body: `[${text.length} characters]`, misplaced: [] };
  if (user !== undefined || (status > 0 && status < 400))
    for (const secret of secretsIn(body)) core.secrets.add(secret);
  return redactBody(body, core.secrets);
}

function decoded(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
