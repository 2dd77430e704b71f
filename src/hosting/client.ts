/** @module Opens the client of a service: sessions, subscriptions, pages, retries and pace behind plain calls. */
import { readFileSync } from "node:fs";
import { isServiceError, type ServiceError, withEvidence } from "../model/errors.ts";
import { defined, type JsonObject } from "../model/json.ts";
import { knownSecrets } from "../model/known-secrets.ts";
import { orAborted } from "../model/once.ts";
import type { Answer, Call, Endpoint, Profile } from "../model/service.ts";
import type { Client, ServiceOptions } from "./service-options.ts";
import { createSession, createUsersToken, type Session } from "./session/session.ts";
import { authorization, secretsIn } from "./session/session-tokens.ts";
import { createSubscriptions } from "./subscriptions/subscriptions.ts";
import { createThrottle, type Ticket } from "./throttle/throttle.ts";
import {
  interrupted,
  passesForRead,
  serviceDates,
  tracedExchange,
  withinPatience,
  withRetry,
} from "./wire/exchange.ts";
import { readAnswer, withPages } from "./wire/read-answer.ts";
import { type Base, baseOf, endpointOf, fillPath } from "./wire/request-url.ts";
import { renameBody } from "./wire/spelling.ts";
import { openConnections, type WireRequest, type WireResponse } from "./wire/transport.ts";

/** Makes a client, and sends nothing. Repeats reads, but no write. Throws `url-invalid` and `url-in-clear`. */
export function createService(options: ServiceOptions): Client {
  const { profile, clock, caFile, credentials, sessionStore, patience } = options;
  const bases = {
    platform: baseOf(options.platformUrl),
    users: baseOf(options.usersUrl ?? options.platformUrl),
  };
  const connections = openConnections({
    ...(caFile === undefined ? {} : { ca: readFileSync(caFile, "utf8") }),
    ...defined({ limit: patience }),
  });
  const {
    transport = connections.send,
    throttle = createThrottle(clock, profile.limits, options.parallelism),
    secrets = knownSecrets(),
    userAgent = "graphform",
  } = options;
  const { hide } = secrets;
  const { username, password } = credentials ?? {};
  secrets.add([password]);
  const closing = new AbortController();
  const dates = serviceDates(clock);
  const exchange = tracedExchange({ ...options, transport, closing: closing.signal, dates, secrets });

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
    secrets.add(secretsIn(call, username));
    return {
      operation,
      method: endpoint.method,
      origin,
      path: path + fillPath(operation, endpoint, { ...profile.keys, ...call.params }),
      headers: { accept: "application/json", "user-agent": userAgent, ...type, ...headers },
      ...text,
      isWrite,
    };
  };
  const session = createSession({
    profile,
    clock,
    origin: bases.platform.origin,
    ...defined({ credentials, store: sessionStore }),
    // Not through the throttle: a request that has its turn may wait for this one.
    send: (operation, endpoint, headers, body) => {
      const sent = { operation, params: {}, ...defined({ body }) };
      const request = wire(sent, endpoint, false, headers);
      const ask = (): Promise<WireResponse> =>
        exchange(request, closing.signal).catch((error: unknown) => {
          throttle.recordRefusal(request.origin, error);
          throw error;
        });
      return withRetry(ask, passesForRead, false, clock, closing.signal);
    },
  });
  const usersToken = options.usersToken === undefined ? session : createUsersToken(options.usersToken);

  /**
   * Sends a call in its turn. One that waits for the session gives its turn up and queues again; after three rounds in which it
   * was not sent it renews within its turn. A refused session is renewed, and a read repeated once.
   */
  const attempt = async (
    call: Call,
    endpoint: Endpoint,
    isWrite: boolean,
    ticket: Ticket,
    { unsent, sent, look }: CallSignals,
  ): Promise<Answer> => {
    const tokens = endpoint.host === "users" ? usersToken : session;
    let isAgain = false;
    for (let waits = 0; ; waits += 1) {
      let token = tokens.ready() ?? (await orAborted(tokens.token(), unsent).catch(beforeSending));
      const send = async (): Promise<WireResponse | undefined> => {
        const now = tokens.ready();
        if (now === undefined && waits < 3) return undefined;
        // The session ended in the queue each time: renew it within this turn, and use it however short it is.
        token = now ?? (await orAborted(tokens.token(), unsent).catch(beforeSending));
        secrets.add([token]);
        const request = wire(call, endpoint, isWrite, authorization(token, endpoint, profile));
        let proof: Promise<void> | undefined;
        const mayLeave = (): boolean => {
          proof = look?.();
          return proof === undefined && !unsent.aborted;
        };
        return exchange(request, sent, mayLeave).catch(async (error: unknown) => {
          if (proof === undefined) throw error;
          // It was held back: it queues again, with the session of then.
          await proof;
          return undefined;
        });
      };
      try {
        const response = await throttle.run(bases[endpoint.host].origin, ticket, send, unsent);
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
    // Shared by all callers: only closing the client ends it.
    read: (wanted) => call(wanted, false, always(closing.signal)),
  });
  const call = async (wanted: Call, isWrite: boolean, signals: CallSignals): Promise<Answer> => {
    const { operation, body } = wanted;
    const { unsent } = signals;
    const endpoint = endpointOf(operation, profile);
    const ticket = throttle.ticket(operation, isWrite);
    // A failed sign-in was retried by the session.
    const isPassing = (error: ServiceError): boolean => error.operation === operation && passesForRead(error);
    try {
      const known = subscriptions.of(wanted, endpoint);
      const subscriptionId = known instanceof Promise ? await orAborted(known, unsent) : known;
      const spelled = {
        ...wanted,
        params: { ...defined({ subscriptionId }), ...wanted.params },
        ...(body === undefined ? {} : { body: renameBody(body, endpoint.body) }),
      };
      const send = (): Promise<Answer> => attempt(spelled, endpoint, isWrite, ticket, signals);
      const ask = (page: Call): Promise<Answer> =>
        withRetry(() => attempt(page, endpoint, false, ticket, signals), isPassing, true, clock, unsent);
      const first = isWrite ? await send() : await withRetry(send, isPassing, true, clock, unsent);
      const answer = isWrite ? first : await withPages(first, spelled, endpoint, ask);
      subscriptions.remember(wanted, answer, subscriptionId);
      return answer;
    } catch (error) {
      // The reason of the signal reaches only a call that was not sent; other errors may come after sending.
      if (unsent.aborted && error === unsent.reason) throw interrupted(operation);
      if (isWrite || !isServiceError(error)) throw error;
      throw withEvidence(error, { host: new URL(bases[endpoint.host].origin).host });
    }
  };
  const baseAt = (operation: string): Base => bases[profile.operations[operation]?.host ?? "platform"];
  /** Only the connection gives up a write that was sent; it reports that the answer was lost. */
  const timed = (wanted: Call, isWrite: boolean, { unsent, sent, look }: CallSignals): Promise<Answer> =>
    withinPatience(
      wanted.operation,
      options,
      unsent,
      (limited) => call(wanted, isWrite, { unsent: limited, sent: isWrite ? sent : limited, look }),
      () => inWords(wanted),
    );
  /** The call with its object and its host, for messages. */
  const inWords = ({ operation, params: { id, instanceId = id } }: Call): string =>
    `${operation}${instanceId === undefined ? "" : ` of ${instanceId}`} at ${new URL(baseAt(operation).origin).host}`;

  const patiently = <T>(operation: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
    withinPatience(operation, options, signal, (limited) => orAborted(work(), limited));

  return {
    profile,
    hide,
    ...defined({ caFile, patience }),
    offers: (operation) => Object.hasOwn(profile.operations, operation),
    read: (wanted, signal) => timed(wanted, false, always(signal)),
    date: (operation) => dates.newest(baseAt(operation).origin),
    write: (wanted, signal, unsent = signal, look = undefined) =>
      timed(wanted, true, { sent: signal, unsent, look }),
    subscriptions: (needed, signal) =>
      patiently("subscriptions.list", signal, () => subscriptions.byTier(needed)),
    accountSubscriptions: (signal) => patiently("subscriptions.list", signal, () => subscriptions.all()),
    async signIn() {
      await patiently("session.sign-in", closing.signal, () => session.token());
      return session.endsAt();
    },
    signOut: () => endSession(session, profile, (wanted) => call(wanted, true, always(closing.signal))),
    async close() {
      closing.abort(new Error("closed"));
      connections.close();
    },
  };
}

/** Signals that cancel a call: before it is sent, and after. */
interface CallSignals {
  readonly unsent: AbortSignal;
  readonly sent: AbortSignal;
  /** Asked at the moment at which a request leaves: a promise holds it back until it is settled, and may abort `unsent`. */
  readonly look?: (() => Promise<void> | undefined) | undefined;
}

function always(signal: AbortSignal): CallSignals {
  return { unsent: signal, sent: signal };
}

/** Rethrows the failure of a sign-in: the call that needed it was never sent. */
function beforeSending(error: unknown): never {
  throw isServiceError(error) ? withEvidence(error, { mayHaveWorked: false, wasSent: false }) : error;
}

/** Ends the session of this client or of an earlier command; false if it had ended already. */
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
