import { readFileSync } from "node:fs";
import { GraphformError, isServiceError, ServiceError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import type { Endpoint, Profile } from "../model/profile.ts";
import type { Answer, Call } from "../model/service.ts";
import { createBudget } from "./budget.ts";
import { interrupted, tracedExchange } from "./exchange.ts";
import { fillPath } from "./fill-path.ts";
import { createHedge } from "./hedge.ts";
import { orAborted } from "./or-aborted.ts";
import { baseOf } from "./origins.ts";
import { withPages } from "./pages.ts";
import type { Ticket } from "./queue.ts";
import { readAnswer } from "./read-answer.ts";
import { renameBody } from "./rename-body.ts";
import { secretsIn } from "./secrets.ts";
import type { Client, ServiceOptions } from "./service-options.ts";
import { createSession, type Session } from "./session.ts";
import { createSubscriptions } from "./subscriptions.ts";
import { openConnections } from "./transport.ts";
import { createUsersToken } from "./users-token.ts";
import type { WireRequest, WireResponse } from "./wire.ts";
import { passesForRead, withRetry } from "./with-retry.ts";

/**
 * The service's HTTP API in our words. Reads are repeated where that may help; a write is sent once, whatever comes back.
 * Throws `url-invalid` or `url-in-clear` where credentials would be at risk; nothing is sent before the first
 * request.
 */
export function createService(options: ServiceOptions): Client {
  const { profile, clock, caFile, credentials, sessionStore } = options;
  const bases = {
    platform: baseOf(options.platformUrl),
    users: baseOf(options.usersUrl ?? options.platformUrl),
  };
  const connections = openConnections(caFile === undefined ? {} : { ca: readFileSync(caFile, "utf8") });
  const {
    transport = connections.send,
    budget = createBudget(clock, options.parallelism),
    trace,
    hedge = createHedge(clock),
    hide = (text) => text,
    userAgent = "graphform",
  } = options;
  const closing = new AbortController();
  const exchange = tracedExchange({ transport, profile, clock, trace, closing: closing.signal, hide });

  const wire = (
    call: Call,
    endpoint: Endpoint,
    isWrite: boolean,
    headers: WireRequest["headers"],
  ): WireRequest => {
    const { operation } = call;
    const { origin, path } = bases[endpoint.host];
    const text = call.body === undefined ? {} : { body: JSON.stringify(call.body) };
    const type = call.body === undefined ? {} : { "content-type": "application/json" };
    return {
      operation,
      method: endpoint.method,
      origin,
      path: path + fillPath(operation, endpoint, { ...profile.keys, ...call.params }),
      headers: { accept: "application/json", "user-agent": userAgent, ...type, ...headers },
      ...text,
      isWrite,
      secrets: [...secretsIn(call.body), credentials?.password ?? "", ...tokensIn(headers)],
    };
  };
  const session = createSession({
    profile,
    clock,
    origin: bases.platform.origin,
    ...(credentials === undefined ? {} : { credentials }),
    ...(sessionStore === undefined ? {} : { store: sessionStore }),
    // Not through the budget: everybody waits for this one.
    send: (operation, endpoint, headers, body) => {
      const request = wire(
        { operation, params: {}, ...(body === undefined ? {} : { body }) },
        endpoint,
        false,
        headers,
      );
      return withRetry(() => exchange(request, closing.signal), passesForRead, false, clock, closing.signal);
    },
  });
  const usersToken = options.usersToken === undefined ? session : createUsersToken(options.usersToken);

  /**
   * One try of a call, once there is room for it. Who waits for the session takes no room, and asks for it again after
   * that, save where sessions are shorter than the queue. A session that the service refuses is renewed, and a read repeated once.
   */
  const attempt = async (
    call: Call,
    endpoint: Endpoint,
    isWrite: boolean,
    ticket: Ticket,
    signal: AbortSignal,
  ): Promise<Answer> => {
    const tokens = endpoint.host === "users" ? usersToken : session;
    let isAgain = false;
    for (let waits = 0; ; waits += 1) {
      let token = tokens.ready() ?? (await orAborted(tokens.token(), signal).catch(beforeSending));
      const send = async (): Promise<WireResponse | undefined> => {
        const now = tokens.ready();
        if (now === undefined && waits < 3) return undefined;
        // It ends in the queue each time: it is renewed now that it is our turn, and used whatever is left of it.
        token = now ?? (await orAborted(tokens.token(), signal).catch(beforeSending));
        const request = wire(call, endpoint, isWrite, authorization(token, endpoint, profile));
        const ask = (): Promise<WireResponse> => exchange(request, signal);
        if (isWrite) return ask();
        return hedge.ask(ask, (notNeeded) =>
          budget.run(endpoint.host, ticket, ask, AbortSignal.any([signal, notNeeded])),
        );
      };
      try {
        const response = await budget.run(endpoint.host, ticket, send, signal);
        if (response !== undefined) return readAnswer(call.operation, endpoint, response.body, hide);
      } catch (error) {
        if (!isServiceError(error, "unauthorized")) throw error;
        tokens.refuse(token);
        if (isAgain || isWrite) throw error;
        isAgain = true;
      }
    }
  };
  const subscriptions = createSubscriptions({
    ...options,
    // For everybody who waits for it.
    read: (wanted) => call(wanted, false, closing.signal),
  });
  const call = async (wanted: Call, isWrite: boolean, signal: AbortSignal): Promise<Answer> => {
    const { operation, body } = wanted;
    const endpoint = endpointOf(operation, profile);
    const ticket = budget.ticket(operation);
    // What failed while signing in was tried often enough.
    const isPassing = (error: ServiceError): boolean => error.operation === operation && passesForRead(error);
    try {
      const known = subscriptions.of(wanted, endpoint);
      const subscriptionId = known instanceof Promise ? await orAborted(known, signal) : known;
      const spelled = {
        ...wanted,
        params: { ...(subscriptionId === undefined ? {} : { subscriptionId }), ...wanted.params },
        ...(body === undefined ? {} : { body: renameBody(body, endpoint.body) }),
      };
      const send = (): Promise<Answer> => attempt(spelled, endpoint, isWrite, ticket, signal);
      const ask = (page: Call): Promise<Answer> =>
        withRetry(() => attempt(page, endpoint, false, ticket, signal), isPassing, true, clock, signal);
      const first = isWrite ? await send() : await withRetry(send, isPassing, true, clock, signal);
      const answer = isWrite ? first : await withPages(first, spelled, endpoint, ask);
      subscriptions.noted(wanted, answer, subscriptionId);
      return answer;
    } catch (error) {
      if (!signal.aborted || isServiceError(error)) throw error;
      throw interrupted(operation);
    }
  };

  return {
    profile,
    ...(caFile === undefined ? {} : { caFile }),
    offers: (operation) => Object.hasOwn(profile.operations, operation),
    read: (wanted, signal) => call(wanted, false, signal),
    write: (wanted, signal) => call(wanted, true, signal),
    subscriptions: (needed, signal) => orAborted(subscriptions.byTier(needed), signal),
    async signIn() {
      await session.token();
      return session.endsAt();
    },
    signOut: () => endSession(session, profile, (wanted) => call(wanted, true, closing.signal)),
    async close() {
      closing.abort(new Error("closed"));
      connections.close();
    },
  };
}

/** Rethrows the failure of a sign-in: the call that needed it was never sent. */
function beforeSending(error: unknown): never {
  if (!isServiceError(error)) throw error;
  const { failure, operation, message, status, retryAfter, hint } = error;
  throw new ServiceError(failure, operation, message, {
    wasSent: false,
    cause: error,
    ...(status === undefined ? {} : { status }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Ends the session that is held or kept, whoever signed in; false where it had ended by itself. */
async function endSession(
  session: Session,
  profile: Profile,
  send: (call: Call) => Promise<Answer>,
): Promise<boolean> {
  const held = await session.load();
  const operation = "session.logout";
  const isSent = held !== undefined && session.canBeUsed(held) && profile.operations[operation] !== undefined;
  if (isSent) {
    const body: JsonObject = held.refreshToken === undefined ? {} : { refreshToken: held.refreshToken };
    await send({ operation, params: {}, body }).catch((error: unknown) => {
      if (!isServiceError(error, "unauthorized")) throw error;
    });
  }
  await session.drop();
  return isSent;
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

/** The bare tokens of an authorization or a cookie header. */
function tokensIn(headers: WireRequest["headers"]): readonly string[] {
  const { authorization: bearer, cookie } = headers;
  return [bearer?.slice(bearer.indexOf(" ") + 1), cookie?.slice(cookie.indexOf("=") + 1)].filter(
    (token) => token !== undefined,
  );
}
