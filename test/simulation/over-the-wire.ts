import { createService } from "../../src/hosting/client.ts";
import type { Transport, WireRequest, WireResponse } from "../../src/hosting/wire/transport.ts";
import type { Clock } from "../../src/model/clock.ts";
import { isServiceError } from "../../src/model/errors.ts";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import type { Answer, Call, Endpoint, Profile, Service } from "../../src/model/service.ts";
import { type Gate, refusal } from "./gate.ts";
import type { Oracle } from "./oracle.ts";
import type { Proc } from "./proc.ts";

/** Requests travel, work or don't, and their answers travel back or don't (connection.ts). */
export type Travel = (call: Call, isWrite: boolean, signal: AbortSignal) => Promise<Answer>;

/** What the client of one process is put together from. */
export interface WireParts {
  readonly profile: Profile;
  readonly clock: Clock;
  readonly gate: Gate;
  readonly travel: Travel;
  readonly oracle: Oracle;
  readonly process: Proc;
  /** The service's clock as the answer to a request shows it, in ms since 1970. */
  readonly date: (request: WireRequest) => number;
}

/**
 * The service through the real client (src/hosting): its session, its throttle, its retries and its reading of answers. Only
 * the network is simulated.
 */
export function overTheWire({ profile, clock, gate, travel, oracle, process, date }: WireParts): Service {
  const { name } = process;
  let renewals = 0;
  const quietUntil = new Map<string, number>();

  const renewed = async (request: WireRequest, signal: AbortSignal): Promise<WireResponse> => {
    renewals += 1;
    if (renewals > 1)
      oracle.violate("renewed at once", `${name}: ${request.operation} while another one is under way`);
    try {
      await travel({ operation: request.operation, params: {} }, false, signal);
      const { refreshToken } = objectIn(request.body);
      return request.operation === "session.refresh" ? gate.refresh(String(refreshToken)) : gate.signIn();
    } finally {
      renewals -= 1;
    }
  };

  const transport: Transport = async (request, signal) => {
    const { headers, ...response } = await exchange(request, signal);
    return { ...response, headers: { ...headers, date: new Date(date(request)).toUTCString() } };
  };

  const exchange: Transport = async (request, signal) => {
    if (request.operation.startsWith("session.")) return asResponse(renewed(request, signal));
    const endpoint = profile.operations[request.operation];
    if (endpoint === undefined) throw new Error(`the profile has no ${request.operation}`);
    if (clock.now() < (quietUntil.get(endpoint.host) ?? 0))
      oracle.violate("no pause", `${name}: ${request.operation} before the service wants to be asked again`);
    if (request.isWrite && process.stopping.signal.aborted)
      oracle.violate("write after an interrupt", `${name}: ${request.operation}`);
    const turnedAway = gate.enter(tokenIn(request), process);
    if (turnedAway !== undefined) {
      await clock.sleep(20 * clock.random(), signal);
      return told(turnedAway, endpoint.host);
    }
    try {
      const answered = asResponse(
        travel(callOf(request, endpoint), request.isWrite, signal).then((answer) =>
          responseTo(answer, endpoint),
        ),
      );
      return told(await answered, endpoint.host);
    } finally {
      gate.leave(process);
    }
  };

  /** From the moment an answer is there its Retry-After holds for everybody. */
  const told = (response: WireResponse, host: string): WireResponse => {
    const seconds = Number(response.headers["retry-after"] ?? 0);
    if (response.status === 429) quietUntil.set(host, clock.now() + 1000 * seconds);
    return response;
  };

  return createService({
    profile,
    platformUrl: "http://127.0.0.1:1",
    credentials: { username: "somebody", password: "s3cret-0-0" },
    subscriptionId: "sub-1",
    clock,
    transport,
    trace: (line) => oracle.says("trace", line),
  });
}

/** Path parameters and body, read back from a request. */
function callOf({ operation, path, body }: WireRequest, endpoint: Endpoint): Call {
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
  const pattern = endpoint.path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "([^/]+)");
  const [, ...values] = new RegExp(`^${pattern}$`).exec(path.replace(/\?.*/, "")) ?? [];
  const params = Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(values[at] ?? "")]));
  return body === undefined ? { operation, params } : { operation, params, body: objectIn(body) };
}

/** The answer as the service sends it: every value at the first of the paths where the profile looks for it. */
function responseTo({ values, body }: Answer, endpoint: Endpoint): WireResponse {
  const whole: { [name: string]: Json } = {};
  for (const [name, paths] of Object.entries(endpoint.answer)) {
    const value = values[name] ?? (name === "items" ? body : undefined);
    if (value !== undefined) put(whole, (paths[0] ?? name).replace("*", "node-1").split("."), value);
  }
  return { status: 200, headers: {}, body: JSON.stringify(whole) };
}

function put(into: { [name: string]: Json }, [step = "", ...rest]: readonly string[], value: Json): void {
  const there = into[step];
  const inner: { [name: string]: Json } = there !== undefined && isObject(there) ? { ...there } : {};
  if (rest.length > 0) put(inner, rest, value);
  into[step] = rest.length > 0 ? inner : isObject(value) ? { ...value, ...inner } : value;
}

/** A refusal or a loss as the network shows it: a status, nonsense, or nothing at all. */
async function asResponse(work: Promise<WireResponse>): Promise<WireResponse> {
  try {
    return await work;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    if (error.failure === "shape") return { status: 202, headers: {}, body: "<html>" };
    if (error.status === undefined) throw error;
    const busy = error.failure === "busy" ? "operation is already in progress" : error.failure;
    const seconds = error.retryAfter === undefined ? {} : { "retry-after": String(error.retryAfter / 1000) };
    return { ...refusal(error.status, busy), headers: seconds };
  }
}

function tokenIn({ headers }: WireRequest): string {
  return /(?:svc_token=|Bearer )(\S+)/.exec(headers["cookie"] ?? headers["authorization"] ?? "")?.[1] ?? "";
}

function objectIn(text: string | undefined): JsonObject {
  const value: Json = JSON.parse(text ?? "{}");
  return isObject(value) ? value : {};
}
