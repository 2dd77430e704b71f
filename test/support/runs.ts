import { inject } from "vitest";

/** How many cases a property plays: all of `count` under `npm run test:all`, a fifth under `npm test`. */
export function runs(count: number): number {
  return inject("whole") ? count : Math.ceil(count / 5);
}
