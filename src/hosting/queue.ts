/** Where a request stands in the queue. */
export interface Ticket {
  readonly operation: string;
  readonly number: number;
}

/** Somebody who waits for a turn. */
export interface Waiter {
  readonly host: string;
  readonly ticket: Ticket;
  readonly signal: AbortSignal;
  readonly start: () => void;
  readonly leave: () => void;
}

/**
 * Who waits for a turn. Operations take turns, and within one the lower ticket is first: forty looks at what is being made
 * do not hold up the next create, which is one step of a long chain.
 */
export interface Queue {
  /** A place at the end of the operation's line. */
  ticket(operation: string): Ticket;
  add(waiter: Waiter): void;
  /** Takes out the next of those whose host `mayStart`. */
  next(mayStart: (host: string) => boolean): Waiter | undefined;
  /** Hosts that are waited for. */
  hosts(): ReadonlySet<string>;
  /** Takes out everybody who waits with this signal. */
  dismiss(signal: AbortSignal): readonly Waiter[];
}

interface Line {
  readonly host: string;
  waiting: Waiter[];
  /** When one of it was last let through: the count of all that were. */
  turn: number;
}

/** An empty queue. */
export function createQueue(): Queue {
  const lines = new Map<string, Line>();
  let tickets = 0;
  let turns = 0;

  const lineOf = ({ host, ticket }: Waiter): Line => {
    const key = `${host} ${ticket.operation}`;
    const line = lines.get(key) ?? { host, waiting: [], turn: 0 };
    lines.set(key, line);
    return line;
  };
  const busy = (): readonly Line[] => [...lines.values()].filter(({ waiting }) => waiting.length > 0);

  return {
    ticket: (operation) => {
      tickets += 1;
      return { operation, number: tickets };
    },
    add: (waiter) => {
      const { waiting } = lineOf(waiter);
      const before = waiting.findLastIndex(({ ticket }) => ticket.number <= waiter.ticket.number);
      waiting.splice(before + 1, 0, waiter);
    },
    next: (mayStart) => {
      const [line] = busy()
        .filter(({ host }) => mayStart(host))
        .toSorted((one, other) => one.turn - other.turn);
      if (line === undefined) return undefined;
      turns += 1;
      line.turn = turns;
      return line.waiting.shift();
    },
    hosts: () => new Set(busy().map(({ host }) => host)),
    dismiss: (signal) => {
      const leaving: Waiter[] = [];
      for (const line of lines.values()) {
        leaving.push(...line.waiting.filter((waiter) => waiter.signal === signal));
        line.waiting = line.waiting.filter((waiter) => waiter.signal !== signal);
      }
      return leaving;
    },
  };
}
