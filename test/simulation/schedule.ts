/** Whoever events belong to: a run of the program, or the service. Nothing that belongs to the dead happens. */
export interface Life {
  dead: boolean;
}

/** Everything that is going to happen, in virtual time. */
export interface Schedule {
  /** Ms since 1970. */
  now(): number;
  /** Lets something happen in `ms` from now, unless its owner is dead by then. */
  after(ms: number, owner: Life, fire: () => void): void;
  /** Whether anything is left that can happen. */
  isEmpty(): boolean;
  /** Lets the next thing happen, and waits until all work is at rest again. Time jumps to it. Throws where nothing is left. */
  step(): Promise<void>;
  /** Waits until all work is at rest. */
  rest(): Promise<void>;
}

interface Planned {
  readonly at: number;
  /** Decides among events of one moment. */
  readonly turn: number;
  readonly owner: Life;
  readonly fire: () => void;
}

/** A schedule that begins at `start`; `random` decides what comes first of what could come at once. */
export function schedule(start: number, random: () => number): Schedule {
  const planned: Planned[] = [];
  let now = start;
  const take = (): Planned | undefined => {
    let first = -1;
    for (let at = planned.length - 1; at >= 0; at--) {
      const event = planned[at];
      if (event === undefined) continue;
      if (event.owner.dead) {
        planned.splice(at, 1);
        if (first > at) first--;
        continue;
      }
      const best = planned[first];
      const isSooner =
        best === undefined || event.at < best.at || (event.at === best.at && event.turn < best.turn);
      if (isSooner) first = at;
    }
    return first < 0 ? undefined : planned.splice(first, 1)[0];
  };
  return {
    now: () => now,
    after: (ms, owner, fire) => void planned.push({ at: now + Math.max(0, ms), turn: random(), owner, fire }),
    isEmpty: () => planned.every((event) => event.owner.dead),
    step() {
      const next = take();
      if (next === undefined) throw new Error("nothing is left that could happen");
      now = Math.max(now, next.at);
      next.fire();
      return atRest();
    },
    rest: atRest,
  };
}

/** Every microtask has run when the event loop takes its next turn. */
function atRest(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
