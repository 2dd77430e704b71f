import { readFileSync } from "node:fs";
import pRetry from "p-retry";
import type { Clock } from "../model/clock.ts";
import { GraphformError, isServiceError, ServiceError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Endpoint, Profile } from "../model/profile.ts";
import type { Answer, Call, Service } from "../model/service.ts";
import { answerValues } from "./answer-values.ts";
import { createBudget } from "./budget.ts";
import { fillPath } from "./fill-path.ts";
import { refusal } from "./refusal.ts";
import { createSession } from "./session.ts";
import { type Transport, undiciTransport, type WireRequest, type WireResponse } from "./transport.ts";

export interface ServiceOptions {
  readonly profile: Profile;
  readonly platformUrl: string;
  readonly usersUrl?: string;
  readonly subscriptionId?: string;
  readonly credentials: { readonly username: string; readonly password: string };
  /** Bearer token of the users host; without it the session's own. */
  readonly usersToken?: () => Promise<string>;
  readonly caFile?: string;
  /** Requests in flight; adaptive where it is not told. */
  readonly parallelism?: number;
  readonly clock: Clock;
  readonly transport?: Transport;
  /** One line per request: method, path, status, ms; no header and no body. */
  readonly trace?: (line: string) => void;
}

/** How often a safe read is sent at most. */
const readAttempts = 6;

/**
 * The service's HTTP API in our words. Reads are repeated where that is safe; a write is sent once, unless the
 * service surely did nothing with it. Throws at once where credentials would travel in clear.
 */
export function createService(options: ServiceOptions): Service & { close(): Promise<void> } {
  const { profile, clock } = options;
  const origins = { platform: originOf(options.platformUrl), users: originOf(options.usersUrl ?? options.platformUrl) };
  const transport = options.transport ?? undiciTransport(options.caFile === undefined ? {} : { ca: readFileSync(options.caFile, "utf8") });
  const budget = createBudget(clock, options.parallelism);
  const closing = new AbortController();

  const once = async (request: WireRequest, isWrite: boolean, signal: AbortSignal): Promise<WireResponse> => {
    const started = clock.now();
    const response = await budget.run(() => transport.send(request, signal), signal);
    options.trace?.(`${request.method} ${request.path} ${response.status} ${clock.now() - started} ms`);
    if (response.status >= 200 && response.status < 300) {
      budget.accepted();
      return response;
    }
    const error = refusal(request.operation, response, parse(response.body), isWrite, profile, clock.now());
    if (error.failure === "rate-limited" || (response.status === 503 && error.retryAfter !== undefined)) budget.limited(error.retryAfter);
    throw error;
  };
  const session = createSession({
    profile,
    clock,
    credentials: options.credentials,
    send: (operation, endpoint, headers, body) =>
      persistently((request) => once(request, false, closing.signal), wire(operation, endpoint, {}, headers, body), clock, closing.signal),
  });

  function wire(
    operation: string,
    endpoint: Endpoint,
    params: { readonly [name: string]: string },
    headers: { readonly [name: string]: string },
    body?: Json,
  ): WireRequest {
    const all = { ...profile.keys, ...(options.subscriptionId === undefined ? {} : { subscriptionId: options.subscriptionId }), ...params };
    return {
      operation,
      method: endpoint.method,
      origin: origins[endpoint.host],
      path: fillPath(endpoint, all, operation),
      headers: { accept: "application/json", ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
  }

  /** Sends a call with a token; a session that expired in the middle is renewed, and the call repeated once. */
  const authorized = async (call: Call, isWrite: boolean, signal: AbortSignal): Promise<Answer> => {
    const endpoint = endpointOf(call.operation, profile);
    const body = call.body === undefined ? undefined : renamed(call.body, endpoint.body);
    for (let attempt = 1; ; attempt += 1) {
      const token = endpoint.host === "users" && options.usersToken !== undefined ? await options.usersToken() : await session.token();
      const request = wire(call.operation, endpoint, call.params, authorization(token, endpoint, profile), body);
      try {
        return answer(await once(request, isWrite, signal), endpoint, call.operation, isWrite);
      } catch (error) {
        if (!isServiceError(error, "unauthorized") || attempt === 2) throw error;
        session.refuse(token);
      }
    }
  };
  return {
    profile,
    ...(options.caFile === undefined ? {} : { caFile: options.caFile }),
    offers: (operation) => profile.operations[operation] !== undefined,
    read: (call, signal) => persistently(() => authorized(call, false, signal), call, clock, signal),
    write: (call, signal) => untilTaken(() => authorized(call, true, signal), clock, signal),
    async close() {
      closing.abort(new Error("closed"));
      await transport.close();
    },
  };
}

/** Repeats what is safe to repeat: lost and unavailable a few times, a full service until it has room. */
function persistently<In, Out>(send: (input: In) => Promise<Out>, input: In, clock: Clock, signal: AbortSignal): Promise<Out> {
  let failures = 0;
  return pRetry(() => send(input), {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 0,
    shouldRetry: ({ error }) => isServiceError(error) && isPassing(error) && failures < readAttempts,
    onFailedAttempt: async ({ error }) => {
      if (!isServiceError(error) || !isPassing(error)) return;
      if (error.failure !== "rate-limited") failures += 1;
      if (failures < readAttempts) await clock.sleep(pauseOf(failures, clock), signal);
    },
  });
}

/** Sends a write once; again only where the service surely did nothing with it. */
async function untilTaken<Out>(send: () => Promise<Out>, clock: Clock, signal: AbortSignal): Promise<Out> {
  for (let failures = 0; ; ) {
    try {
      return await send();
    } catch (error) {
      if (!isServiceError(error) || !(error.failure === "rate-limited" || error.failure === "unavailable")) throw error;
      if (error.failure === "unavailable") failures += 1;
      if (failures >= readAttempts) throw error;
      await clock.sleep(pauseOf(failures, clock), signal);
    }
  }
}

function isPassing(error: ServiceError): boolean {
  return ["unavailable", "lost", "rate-limited", "shape"].includes(error.failure);
}

/** Ms before the next try: a moment for a full service, since the budget keeps the pause; longer with each failure. */
function pauseOf(failures: number, clock: Clock): number {
  return failures === 0 ? 1 : Math.min(5000, 100 * 2 ** (failures - 1)) * (0.5 + clock.random() / 2);
}

function endpointOf(operation: string, profile: Profile): Endpoint {
  const endpoint = profile.operations[operation];
  if (endpoint !== undefined) return endpoint;
  throw new GraphformError("not-offered", `profile ${profile.name} has no operation ${operation}`, {
    hint: "use a profile that has it: graphform profile list",
  });
}

function authorization(token: string, endpoint: Endpoint, profile: Profile): { readonly [name: string]: string } {
  const isBearer = endpoint.host === "users" || profile.session.send === "bearer";
  return isBearer ? { authorization: `Bearer ${token}` } : { cookie: `${profile.session.tokenCookie}=${token}` };
}

function answer(response: WireResponse, endpoint: Endpoint, operation: string, isWrite: boolean): Answer {
  const empty = response.body.trim() === "";
  const body = empty ? null : parse(response.body);
  if (body === undefined) throw nonsense(operation, "is not JSON", isWrite);
  const values = answerValues(body, endpoint.answer);
  const needed = isWrite ? ["id"] : ["ids", "items"];
  for (const name of needed.filter((entry) => endpoint.answer[entry] !== undefined)) {
    const value = values[name];
    const fits = name === "id" ? typeof value === "string" : Array.isArray(value);
    if (!fits) throw nonsense(operation, `has no ${endpoint.answer[name]?.join(" or ") ?? name}`, isWrite);
  }
  if (!isWrite && !isObject(body) && !Array.isArray(body)) throw nonsense(operation, "is no object", isWrite);
  return { body, values };
}

function nonsense(operation: string, what: string, isWrite: boolean): ServiceError {
  return new ServiceError("shape", operation, `${operation}: the answer ${what}`, { mayHaveWorked: isWrite });
}

function renamed(body: { readonly [key: string]: Json }, names: { readonly [name: string]: string }): Json {
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [names[key] ?? key, value]));
}

function parse(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** Credentials travel only over TLS, or on this machine. */
function originOf(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new GraphformError("url-invalid", `"${url}" is no URL`, { hint: "write it like https://platform.example.com" });
  }
  const loopback = ["localhost", "127.0.0.1", "[::1]"].includes(parsed.hostname) || parsed.hostname.startsWith("127.");
  if (parsed.protocol === "https:" || (parsed.protocol === "http:" && loopback)) return parsed.origin;
  throw new GraphformError("url-in-clear", `${parsed.origin} would get the password in clear`, { hint: "use https" });
}
