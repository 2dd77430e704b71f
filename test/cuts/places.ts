import { chance } from "../support/chance.ts";
import type { Cut, Extent } from "./trial.ts";

/** One place in `every` of those that an apply has: each of its requests at three moments, each of its writes at two. */
export function placesIn({ requests, writes }: Extent, every: number): readonly Cut[] {
  const numbers = (count: number): readonly number[] =>
    Array.from({ length: Math.ceil(count / every) }, (_, at) => 1 + at * every);
  return [
    ...numbers(requests).flatMap((n): Cut[] =>
      (["before", "after", "answered"] as const).map((moment) => ({ at: "request", n, moment })),
    ),
    ...numbers(writes).flatMap((n): Cut[] =>
      (["before", "after"] as const).map((moment) => ({ at: "write", n, moment })),
    ),
  ];
}

/** A place, and up to `more` others for what runs after it, early ones more often: what runs again has less to do. */
export function rowFrom(
  first: Cut,
  more: number,
  { requests, writes }: Extent,
  seed: number,
): readonly Cut[] {
  const sort = ["before", "after", "answered"].indexOf(first.moment) + (first.at === "write" ? 3 : 0);
  const random = chance(seed * 1_000_003 + first.n * 6 + sort);
  const others = Array.from({ length: more }, (): Cut => {
    const isWrite = random.is(0.4);
    const n = Math.floor(random.scale(1, isWrite ? writes : requests));
    return isWrite
      ? { at: "write", n, moment: random.of(["before", "after"] as const) }
      : { at: "request", n, moment: random.of(["before", "after", "answered"] as const) };
  });
  return [first, ...others];
}

/** As it is given to `--place`: `request-12-after`. */
export function placeText({ at, n, moment }: Cut): string {
  return `${at}-${n}-${moment}`;
}

/** Reads what `placeText` wrote; undefined for anything else. */
export function readPlace(text: string): Cut | undefined {
  const [at, number, moment, ...rest] = text.split("-");
  const n = Number(number);
  if (!Number.isInteger(n) || n < 1 || rest.length > 0) return undefined;
  if (at === "request" && (moment === "before" || moment === "after" || moment === "answered"))
    return { at, n, moment };
  if (at === "write" && (moment === "before" || moment === "after")) return { at, n, moment };
  return undefined;
}
