/** @module Decides when requests are sent: within the number in flight, at the pace of each host, operations in turn. */

import type { Clock } from "../../model/clock.ts";
import { isServiceError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import { onAbort } from "../../model/once.ts";
import type { Limits } from "../../model/service.ts";
import {
  ended,
  type HostPace,
  isUsed,
  newHostPace,
  refused,
  type Sent,
  started,
  startOf,
  taken,
} from "./host-pace.ts";

export interface Throttle {
  /** Takes a ticket in the queue of an operation; a request that is repeated keeps its ticket. */
  ticket(operation: string, isWrite?: boolean): Ticket;
  /**
   * Runs the work when it is its turn. Its result adjusts the pace: a `rate-limited` ServiceError, or one of status
   * 503 with a Retry-After, slows everyone down. Rejects with the signal's reason when it is aborted before its turn.
   */
  run<T>(host: string, ticket: Ticket, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Slows all requests down for a refusal outside of a turn, such as that of a sign-in; ignores other errors. */
  recordRefusal(host: string, error: unknown): void;
}

/** `limits` are those of the profile, `parallelism` is the most that the user wants under way. */
export function createThrottle(clock: Clock, limits: Limits = {}, parallelism?: number): Throttle {
  const paces = new Map<string, HostPace>();
  const queue = fairQueue();
  let inFlight = 0;
  let alarm: { readonly at: number; readonly off: AbortController } | undefined;

  const paceOf = (host: string): HostPace => paces.get(host) ?? newHostPace(limits, parallelism);
  const most = Math.min(limits.inFlight ?? Number.POSITIVE_INFINITY, parallelism ?? Number.POSITIVE_INFINITY);
  const startsAt = ({ host, isWrite }: Line): number =>
    inFlight < most ? startOf(paceOf(host), isWrite) : Number.POSITIVE_INFINITY;

  const pump = (): void => {
    const next = (): QueuedRequest | undefined => queue.next((line) => startsAt(line) <= clock.now());
    for (let request = next(); request !== undefined; request = next()) {
      inFlight += 1;
      request.start();
    }
    setAlarm();
  };

  /** Wakes when the first of those who wait for their host may start. Requests that wait for room are woken by each that ends. */
  const setAlarm = (): void => {
    const at = Math.min(...queue.lines().map(startsAt));
    if (alarm?.at === at) return;
    alarm?.off.abort();
    alarm = undefined;
    if (at === Number.POSITIVE_INFINITY) return;
    const mine = { at, off: new AbortController() };
    alarm = mine;
    clock.sleep(Math.max(0, at - clock.now()), mine.off.signal).then(
      () => {
        if (alarm === mine) alarm = undefined;
        pump();
      },
      () => undefined,
    );
  };

  /** Resolves when the request may leave. */
  const turn = (host: string, ticket: Ticket, signal: AbortSignal): Promise<Sent> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const start = (): void => {
        stopWatching();
        const [pace, at] = [paceOf(host), clock.now()];
        paces.set(host, started(pace, ticket.isWrite, at));
        resolve({ at, together: pace.underWay + 1, wasUsed: isUsed(pace, at) });
      };
      const request = { host, ticket, start };
      const stopWatching = onAbort(signal, (reason) => {
        queue.remove(request);
        reject(reason);
        setAlarm();
      });
      queue.add(request);
      pump();
    });

  /** Adjusts the pace if the error is a refusal; false for any other error. */
  const noteRefusal = (host: string, sentAt: number, error: unknown): boolean => {
    if (!isServiceError(error)) return false;
    const { failure, status, retryAfter } = error;
    const isTooMuch = failure === "rate-limited";
    if (!isTooMuch && (status !== 503 || retryAfter === undefined)) return false;
    const refusal = { sentAt, isTooMuch, ...defined({ retryAfter }) };
    paces.set(host, refused(paceOf(host), refusal, clock.now()));
    return true;
  };

  return {
    ticket: (operation, isWrite = false) => queue.ticket(operation, isWrite),
    recordRefusal: (host, error) => void noteRefusal(host, clock.now(), error),
    async run(host, ticket, work, signal) {
      const sent = await turn(host, ticket, signal);
      // Writes never raise the rate: a refused create costs a long search.
      const answered = (): void => {
        if (!ticket.isWrite) paces.set(host, taken(paceOf(host), sent, clock.now()));
      };
      try {
        const result = await work();
        answered();
        return result;
      } catch (error) {
        const isRefusal = noteRefusal(host, sent.at, error);
        if (!isRefusal && isServiceError(error) && (error.status ?? 500) < 500) answered();
        throw error;
      } finally {
        inFlight -= 1;
        paces.set(host, ended(paceOf(host), ticket.isWrite));
        pump();
      }
    },
  };
}

export interface Ticket {
  readonly operation: string;
  readonly number: number;
  readonly isWrite: boolean;
}

/** Requests of one operation at one host that wait. */
interface Line {
  readonly host: string;
  readonly isWrite: boolean;
  readonly waiting: QueuedRequest[];
}

interface QueuedRequest {
  readonly host: string;
  readonly ticket: Ticket;
  readonly start: () => void;
}

/** Round robin between the operations of each host: a thousand looks do not hold up the next create, nor creates a look. */
function fairQueue() {
  // Lines that are not empty; a line goes to the end after its turn.
  const lines = new Map<string, Line>();
  let tickets = 0;
  const keyOf = ({ host, ticket }: QueuedRequest): string => `${host} ${ticket.operation}`;

  return {
    ticket: (operation: string, isWrite: boolean): Ticket => {
      tickets += 1;
      return { operation, number: tickets, isWrite };
    },
    add: (request: QueuedRequest): void => {
      const { host, ticket } = request;
      const key = keyOf(request);
      const line = lines.get(key) ?? { host, isWrite: ticket.isWrite, waiting: [] };
      lines.set(key, line);
      const before = line.waiting.findLastIndex((other) => other.ticket.number <= ticket.number);
      line.waiting.splice(before + 1, 0, request);
    },
    /** Takes out the next of those whose line `mayStart`. */
    next: (mayStart: (line: Line) => boolean): QueuedRequest | undefined => {
      for (const [key, line] of lines) {
        if (!mayStart(line)) continue;
        const first = line.waiting.shift();
        lines.delete(key);
        if (line.waiting.length > 0) lines.set(key, line);
        return first;
      }
      return undefined;
    },
    lines: (): readonly Line[] => [...lines.values()],
    remove: (request: QueuedRequest): void => {
      const key = keyOf(request);
      const { waiting = [] } = lines.get(key) ?? {};
      waiting.splice(waiting.indexOf(request), 1);
      if (waiting.length === 0) lines.delete(key);
    },
  };
}
