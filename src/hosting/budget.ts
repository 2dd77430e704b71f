import type { Clock } from "../model/clock.ts";
import { isServiceError, type ServiceError } from "../model/errors.ts";
import { countsRequests, type HostPace, newHostPace, refused, started, startOf, taken } from "./host-pace.ts";
import { type Flight, narrowed, newWidth, roomOf, sent, tooFast, type Width, widened } from "./width.ts";

/** Where a request stands in the queue; one that is sent again keeps its place. */
export type Ticket = number;

/** The one budget of requests that everything shares: how many in flight, how fast, and when not at all. */
export interface Budget {
  /** A place at the end of the queue. */
  ticket(): Ticket;
  /**
   * Runs the work as soon as there is room for it, in the order of tickets. How it ends teaches the budget: a
   * `rate-limited` ServiceError, or one of status 503 that says when to come back, slows everyone down.
   * Rejects with the signal's reason when it is aborted before its turn.
   */
  run<T>(host: string, ticket: Ticket, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** What was learned so far. */
  learned(): { readonly width: Width; readonly hosts: ReadonlyMap<string, HostPace> };
}

interface Waiter {
  readonly host: string;
  readonly ticket: Ticket;
  readonly signal: AbortSignal;
  readonly start: () => void;
  readonly leave: () => void;
}

/** A budget that learns; `parallelism` fixes how many requests may be in flight. */
export function createBudget(clock: Clock, parallelism?: number): Budget {
  const hosts = new Map<string, HostPace>();
  const waiting: Waiter[] = [];
  const flights = new Set<{ -readonly [key in keyof Flight]: Flight[key] }>();
  const watched = new WeakSet<AbortSignal>();
  let width = newWidth(parallelism);
  let tickets = 0;
  let alarm: { readonly at: number; readonly off: AbortController } | undefined;

  const hostOf = (host: string): HostPace => hosts.get(host) ?? newHostPace;
  const startsAt = (host: string): number => Math.max(width.nextAt, startOf(hostOf(host)));
  const hasRoom = (): boolean => flights.size < roomOf(width);

  const pump = (): void => {
    while (hasRoom()) {
      const now = clock.now();
      const at = waiting.findIndex(({ host }) => startsAt(host) <= now);
      const [next] = at < 0 ? [] : waiting.splice(at, 1);
      if (next === undefined) break;
      hosts.set(next.host, started(hostOf(next.host), now));
      width = sent(width, now);
      next.start();
    }
    setAlarm();
  };

  /** Wakes when the first of those who wait for a pause may start. Those who wait for room are woken by whoever leaves. */
  const setAlarm = (): void => {
    const times = hasRoom() ? new Set(waiting.map(({ host }) => startsAt(host))) : [];
    const at = Math.min(...times);
    if (alarm?.at === at) return;
    alarm?.off.abort();
    alarm = undefined;
    if (at === Number.POSITIVE_INFINITY) return;
    const off = new AbortController();
    const mine = { at, off };
    alarm = mine;
    clock.sleep(Math.max(0, at - clock.now()), off.signal).then(
      () => {
        if (alarm === mine) alarm = undefined;
        pump();
      },
      () => undefined,
    );
  };

  const turn = (host: string, ticket: Ticket, signal: AbortSignal): Promise<Flight> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = (): void => reject(signal.reason);
      const start = (): void => {
        const flight = { sentAt: clock.now(), together: 1, position: flights.size + 1, limit: width.limit };
        flights.add(flight);
        for (const each of flights) each.together = Math.max(each.together, flights.size);
        resolve(flight);
      };
      waiting.splice(waiting.findLastIndex((each) => each.ticket <= ticket) + 1, 0, {
        host,
        ticket,
        signal,
        start,
        leave,
      });
      watch(signal);
      pump();
    });

  /** One listener for each signal, however many wait with it: a thousand on one signal cost more than their requests. */
  const watch = (signal: AbortSignal): void => {
    if (watched.has(signal)) return;
    watched.add(signal);
    const dismiss = (): void => {
      const leaving = waiting.filter((each) => each.signal === signal);
      waiting.splice(0, waiting.length, ...waiting.filter((each) => each.signal !== signal));
      for (const each of leaving) each.leave();
      setAlarm();
    };
    signal.addEventListener("abort", dismiss, { once: true });
  };

  const tookIt = (host: string, flight: Flight): void => {
    hosts.set(host, taken(hostOf(host), flight.sentAt, clock.now()));
    width = widened(width, flight, clock.now());
  };

  const refusedIt = (host: string, flight: Flight, retryAfter: number | undefined): void => {
    const before = hostOf(host);
    const pace = tooFast(width, flight);
    const refusal = {
      sentAt: flight.sentAt,
      alone: flight.together === 1,
      ...(pace === undefined ? {} : { tooFast: pace }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    };
    const after = refused(before, refusal, clock.now());
    hosts.set(host, after);
    if (!countsRequests(after)) width = narrowed(width, flight, retryAfter ?? 0, clock.now());
    else if (!countsRequests(before)) width = newWidth(parallelism);
  };

  return {
    ticket: () => {
      tickets += 1;
      return tickets;
    },
    learned: () => ({ width, hosts }),
    async run(host, ticket, work, signal) {
      const flight = await turn(host, ticket, signal);
      try {
        const result = await work();
        tookIt(host, flight);
        return result;
      } catch (error) {
        if (isServiceError(error) && isTooMuch(error)) refusedIt(host, flight, error.retryAfter);
        else if (isServiceError(error) && error.status !== undefined && error.status < 500)
          tookIt(host, flight);
        throw error;
      } finally {
        flights.delete(flight);
        pump();
      }
    },
  };
}

function isTooMuch(error: ServiceError): boolean {
  return error.failure === "rate-limited" || (error.status === 503 && error.retryAfter !== undefined);
}
