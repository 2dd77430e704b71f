import { GraphformError } from "../../../src/model/errors.ts";
import type { StateDriver } from "../../../src/state/remote/driver.ts";

/** A request of a driver, as faults name it. */
export type Request = "read" | "write" | "take" | "renew" | "release" | "holder" | "remove";

/** The end of a request. `before`: it never came. `after`: it was done, and the answer is lost. */
export type Cut = "before" | "after";

/** Faults of one driver, and what was asked of it. */
export interface Faults {
  /** The next requests of a name, each with its end. */
  cut(request: Request, ...cuts: readonly Cut[]): void;
  /** True: nothing is reached from now on. */
  away(isAway: boolean): void;
  readonly asked: readonly Request[];
  /** Cuts that were not met. */
  left(): number;
}

/** A driver whose requests may get lost on the way there or on the way back. */
export function faultyDriver(driver: StateDriver): { readonly driver: StateDriver; readonly faults: Faults } {
  const cuts = new Map<Request, Cut[]>();
  const asked: Request[] = [];
  let isAway = false;

  const through = async <T>(request: Request, ask: () => Promise<T>): Promise<T> => {
    asked.push(request);
    const cut = isAway ? "before" : cuts.get(request)?.shift();
    if (cut === "before") throw unreachable(driver.where, request);
    const answer = await ask();
    if (cut === "after") throw unreachable(driver.where, request);
    return answer;
  };
  return {
    driver: {
      ...driver,
      read: () => through("read", () => driver.read()),
      write: (text, expected, lease) => through("write", () => driver.write(text, expected, lease)),
      take: (holder) => through("take", () => driver.take(holder)),
      renew: (lease, holder) => through("renew", () => driver.renew(lease, holder)),
      release: (lease) => through("release", () => driver.release(lease)),
      holder: () => through("holder", () => driver.holder()),
      remove: (id) => through("remove", () => driver.remove(id)),
    },
    faults: {
      cut: (request, ...more) => void cuts.set(request, [...(cuts.get(request) ?? []), ...more]),
      away(value) {
        isAway = value;
      },
      asked,
      left: () => [...cuts.values()].reduce((sum, { length }) => sum + length, 0),
    },
  };
}

function unreachable(where: string, request: string): GraphformError {
  return new GraphformError("state-unreachable", `${where} did not answer to ${request}`);
}
