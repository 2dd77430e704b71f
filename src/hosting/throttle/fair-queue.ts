/** @module Orders waiting requests: operations take turns; within one, the lower ticket is first. */

/** A place in the line of an operation. */
export interface Ticket {
  readonly operation: string;
  readonly number: number;
  readonly isWrite: boolean;
}

/** A request that waits to be sent. */
export interface QueuedRequest {
  readonly host: string;
  readonly ticket: Ticket;
  readonly signal: AbortSignal;
  readonly start: () => void;
  readonly leave: () => void;
}

/** Round robin between the operations of each host: a thousand looks do not hold up the next create, nor creates a look. */
export interface FairQueue {
  /** A place at the end of the operation's line. */
  ticket(operation: string, isWrite: boolean): Ticket;
  add(request: QueuedRequest): void;
  /** Takes out the next of those whose host `mayStart`. */
  next(mayStart: (host: string) => boolean): QueuedRequest | undefined;
  /** Hosts that are waited for. */
  hosts(): Iterable<string>;
  /** Takes out everybody who waits with this signal. */
  dismiss(signal: AbortSignal): readonly QueuedRequest[];
}

/** An empty queue. */
export function fairQueue(): FairQueue {
  // Lines with somebody in them; whose turn it was goes to the end.
  const lines = new Map<string, { readonly host: string; waiting: QueuedRequest[] }>();
  let tickets = 0;

  return {
    ticket: (operation, isWrite) => {
      tickets += 1;
      return { operation, number: tickets, isWrite };
    },
    add: (request) => {
      const { host, ticket } = request;
      const key = `${host} ${ticket.operation}`;
      const line = lines.get(key) ?? { host, waiting: [] };
      lines.set(key, line);
      const before = line.waiting.findLastIndex((other) => other.ticket.number <= ticket.number);
      line.waiting.splice(before + 1, 0, request);
    },
    next: (mayStart) => {
      for (const [key, line] of lines) {
        if (!mayStart(line.host)) continue;
        const first = line.waiting.shift();
        lines.delete(key);
        if (line.waiting.length > 0) lines.set(key, line);
        return first;
      }
      return undefined;
    },
    hosts: () => new Set([...lines.values()].map(({ host }) => host)),
    dismiss: (signal) => {
      const leaving: QueuedRequest[] = [];
      for (const [key, line] of lines) {
        leaving.push(...line.waiting.filter((request) => request.signal === signal));
        line.waiting = line.waiting.filter((request) => request.signal !== signal);
        if (line.waiting.length === 0) lines.delete(key);
      }
      return leaving;
    },
  };
}
