import type { Clock } from "../model/clock.ts";
import { isServiceError, type ServiceError } from "../model/errors.ts";
import { countsRequests, type HostPace, newHostPace, refused, started, startOf, taken } from "./host-pace.ts";
import { createQueue, type Ticket } from "./queue.ts";
import { type Flight, narrowed, newWidth, roomOf, sent, tooFast, type Width, widened } from "./width.ts";

/** The one budget of requests that everything shares: how many in flight, how fast, and when not at all. */
export interface Budget {
  /** A place in the queue; a request that is sent again keeps it. */
  ticket(operation: string): Ticket;
  /**
   * Runs the work as soon as there is room for it and it is its turn. How it ends teaches the budget: a
   * `rate-limited` ServiceError, or one of status 503 that says when to come back, slows everyone down.
   * Rejects with the signal's reason when it is aborted before its turn.
   */
  run<T>(host: string, ticket: Ticket, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** What was learned so far. */
  learned(): { readonly width: Width; readonly hosts: ReadonlyMap<string, HostPace> };
}

/** A budget that learns; `parallelism` fixes how many requests may be in flight. */
export function createBudget(clock: Clock, parallelism?: number): Budget {
  const hosts = new Map<string, HostPace>();
  const queue = createQueue();
  const flights = new Set<{ -readonly [key in keyof Flight]: Flight[key] }>();
  const watched = new WeakSet<AbortSignal>();
  let width = newWidth(parallelism);
  let alarm: { readonly at: number; readonly off: AbortController } | undefined;

  const hostOf = (host: string): HostPace => hosts.get(host) ?? newHostPace;
  const startsAt = (host: string): number => Math.max(width.nextAt, startOf(hostOf(host)));
  const hasRoom = (): boolean => flights.size < roomOf(width);

  const pump = (): void => {
    while (hasRoom()) {
      const now = clock.now();
      const next = queue.next((host) => startsAt(host) <= now);
      if (next === undefined) break;
      hosts.set(next.host, started(hostOf(next.host), now));
      width = sent(width, now);
      next.start();
    }
    setAlarm();
  };

  /** Wakes when the first of those who wait for a pause may start. Those who wait for room are woken by whoever leaves. */
  const setAlarm = (): void => {
    const at = hasRoom() ? Math.min(...[...queue.hosts()].map(startsAt)) : Number.POSITIVE_INFINITY;
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
      queue.add({ host, ticket, signal, start, leave });
      watch(signal);
      pump();
    });

  /** One listener for each signal, however many wait with it: a thousand on one signal cost more than their requests. */
  const watch = (signal: AbortSignal): void => {
    if (watched.has(signal)) return;
    watched.add(signal);
    const dismiss = (): void => {
      for (const each of queue.dismiss(signal)) each.leave();
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
    const narrower = narrowed(width, flight, retryAfter ?? 0, clock.now());
    const refusal = {
      sentAt: flight.sentAt,
      alone: flight.together === 1 || (!width.told && narrower.survivors <= 0),
      amongFew: flight.position * 2 <= width.fine,
      ...(pace === undefined ? {} : { tooFast: pace }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    };
    const after = refused(before, refusal, clock.now());
    hosts.set(host, after);
    if (!countsRequests(after)) width = narrower;
    else if (!countsRequests(before)) width = newWidth(parallelism);
  };

  return {
    ticket: queue.ticket,
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
