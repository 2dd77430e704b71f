import { readFileSync } from "node:fs";
import type { Clock } from "../model/clock.ts";
import { GraphformError, isServiceError, ServiceError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { Endpoint, Profile } from "../model/profile.ts";
import type { Answer, Call, Service } from "../model/service.ts";
import { type Budget, createBudget } from "./budget.ts";
import { serviceError } from "./errors.ts";
import { fillPath } from "./fill-path.ts";
import { baseOf } from "./origins.ts";
import { passesForRead, passesForWrite, persist } from "./persist.ts";
import { readAnswer } from "./read-answer.ts";
import { renameBody } from "./rename-body.ts";
import { secretsIn } from "./secrets.ts";
import { createSession, type Session, type SessionStore } from "./session.ts";
import { openConnections } from "./transport.ts";
import { createUsersToken } from "./users-token.ts";
import type { Transport, WireRequest, WireResponse } from "./wire.ts";

export interface ServiceOptions {
  readonly profile: Profile;
  readonly platformUrl: string;
  /** Without it the users host is the platform host. */
  readonly usersUrl?: string;
  readonly subscriptionId?: string;
  /** Without them only a kept session can be used. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Bearer token of the users host; without it the session's own. */
  readonly usersToken?: () => Promise<string>;
  /** Keeps the session between commands. */
  readonly sessionStore?: SessionStore;
  /** PEM file of an authority to trust besides the system's. */
  readonly caFile?: string;
  /** Requests in flight; learned where it is not told. */
  readonly parallelism?: number;
  readonly clock: Clock;
  /** In place of a budget of its own, where several clients share one. */
  readonly budget?: Budget;
  /** In place of HTTP over the network. */
  readonly transport?: Transport;
  /** One line per request: method, path, status, ms; no header and no body. */
  readonly trace?: (line: string) => void;
}

/** A service with a session to begin and end, and connections to let go of. */
export type Client = Service & {
  /** Signs in now rather than with the first request. */
  signIn(): Promise<void>;
  /** Ends the session at the service, where the profile can, and here. */
  signOut(): Promise<void>;
  close(): Promise<void>;
};

/**
 * The service's HTTP API in our words. Reads are repeated where that may help; a write is sent once, unless it surely did
 * nothing. Throws `url-invalid` or `url-in-clear` where credentials would be at risk; nothing is sent before the first
 * request.
 */
export function createService(options: ServiceOptions): Client {
  const { profile, clock, caFile, subscriptionId } = options;
  const bases = {
    platform: baseOf(options.platformUrl),
    users: baseOf(options.usersUrl ?? options.platformUrl),
  };
  const connections = options.transport === undefined ? openConnections(trust(caFile)) : undefined;
  const transport = options.transport ?? connections?.send;
  const budget = options.budget ?? createBudget(clock, options.parallelism);
  const closing = new AbortController();
  const params = { ...profile.keys, ...(subscriptionId === undefined ? {} : { subscriptionId }) };

  /** One request and its answer, traced; any status but 2xx is an error. */
  const exchange = async (
    request: WireRequest,
    isWrite: boolean,
    secrets: readonly string[],
    signal: AbortSignal,
  ): Promise<WireResponse> => {
    const started = clock.now();
    const told = (what: number | string): void =>
      options.trace?.(`${request.method} ${request.path} ${what} ${Math.round(clock.now() - started)} ms`);
    try {
      if (transport === undefined || closing.signal.aborted) throw interrupted(request.operation);
      const response = await transport(request, signal);
      told(response.status);
      if (response.status >= 200 && response.status < 300) return response;
      throw serviceError(response, {
        operation: request.operation,
        isWrite,
        profile,
        now: clock.now(),
        secrets,
      });
    } catch (error) {
      if (isServiceError(error) && error.status === undefined) told(error.failure);
      throw error;
    }
  };
  const wire = (
    operation: string,
    endpoint: Endpoint,
    given: Call["params"],
    headers: WireRequest["headers"],
    body: JsonObject | undefined,
  ): WireRequest => {
    const { origin, path } = bases[endpoint.host];
    return {
      operation,
      method: endpoint.method,
      origin,
      path: path + fillPath(operation, endpoint, { ...params, ...given }),
      headers: {
        accept: "application/json",
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
  };
  const session = createSession({
    profile,
    clock,
    origin: bases.platform.origin,
    ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
    ...(options.sessionStore === undefined ? {} : { store: options.sessionStore }),
    // Not through the budget: whoever waits for the session holds a place in it.
    send: (operation, endpoint, headers, body) => {
      const secrets = [
        ...secretsIn(body),
        options.credentials?.password ?? "",
        headers["authorization"]?.split(" ")[1] ?? "",
      ];
      const request = wire(operation, endpoint, {}, headers, body);
      return persist(
        () => exchange(request, false, secrets, closing.signal),
        passesForRead,
        false,
        clock,
        closing.signal,
      );
    },
  });
  const usersToken = options.usersToken === undefined ? session : createUsersToken(options.usersToken);

  /** One try of a call. A session that the service refuses is renewed, and the call repeated once. */
  const attempt = async (
    call: Call,
    endpoint: Endpoint,
    isWrite: boolean,
    signal: AbortSignal,
  ): Promise<Answer> => {
    const tokens = endpoint.host === "users" ? usersToken : session;
    const body = call.body === undefined ? undefined : renameBody(call.body, endpoint.body);
    for (let isAgain = false; ; isAgain = true) {
      const token = tokens.ready() ?? (await orAborted(tokens.token(), signal));
      const request = wire(
        call.operation,
        endpoint,
        call.params,
        authorization(token, endpoint, profile),
        body,
      );
      const secrets = [token, options.credentials?.password ?? "", ...secretsIn(body)];
      try {
        const response = await exchange(request, isWrite, secrets, signal);
        return readAnswer(call.operation, endpoint, response.body);
      } catch (error) {
        if (!isServiceError(error, "unauthorized") || isAgain) throw error;
        tokens.refuse(token);
      }
    }
  };
  const call = async (wanted: Call, isWrite: boolean, signal: AbortSignal): Promise<Answer> => {
    const endpoint = endpointOf(wanted.operation, profile);
    const ticket = budget.ticket();
    const send = (): Promise<Answer> =>
      budget.run(endpoint.host, ticket, () => attempt(wanted, endpoint, isWrite, signal), signal);
    try {
      return await persist(send, isWrite ? passesForWrite : passesForRead, true, clock, signal);
    } catch (error) {
      if (!signal.aborted || isServiceError(error)) throw error;
      throw interrupted(wanted.operation);
    }
  };

  return {
    profile,
    ...(caFile === undefined ? {} : { caFile }),
    offers: (operation) => Object.hasOwn(profile.operations, operation),
    read: (wanted, signal) => call(wanted, false, signal),
    write: (wanted, signal) => call(wanted, true, signal),
    async signIn() {
      await session.token();
    },
    signOut: () => endSession(session, profile, (wanted) => call(wanted, true, closing.signal)),
    async close() {
      closing.abort(new Error("closed"));
      connections?.close();
    },
  };
}

async function endSession(
  session: Session,
  profile: Profile,
  send: (call: Call) => Promise<Answer>,
): Promise<void> {
  const held = session.held();
  const operation = "session.logout";
  if (held !== undefined && profile.operations[operation] !== undefined) {
    const body: JsonObject = held.refreshToken === undefined ? {} : { refreshToken: held.refreshToken };
    await send({ operation, params: {}, body }).catch((error: unknown) => {
      if (!isServiceError(error, "unauthorized")) throw error;
    });
  }
  await session.drop();
}

function interrupted(operation: string): ServiceError {
  return new ServiceError("aborted", operation, `${operation}: interrupted`);
}

function trust(caFile: string | undefined): { readonly ca?: string } {
  return caFile === undefined ? {} : { ca: readFileSync(caFile, "utf8") };
}

function endpointOf(operation: string, profile: Profile): Endpoint {
  const endpoint = Object.hasOwn(profile.operations, operation) ? profile.operations[operation] : undefined;
  if (endpoint !== undefined) return endpoint;
  throw new GraphformError("not-offered", `profile ${profile.name} has no operation ${operation}`, {
    hint: "use a profile that has it: graphform profile list",
  });
}

function authorization(
  token: string,
  endpoint: Endpoint,
  profile: Profile,
): { readonly [name: string]: string } {
  const isBearer = endpoint.host === "users" || profile.session.send === "bearer";
  return isBearer
    ? { authorization: `Bearer ${token}` }
    : { cookie: `${profile.session.tokenCookie}=${token}` };
}

/** Waits for what everybody waits for, but no longer than this caller wants. */
function orAborted(shared: Promise<string>, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
