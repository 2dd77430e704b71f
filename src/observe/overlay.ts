import type { Seen } from "../model/observed.ts";
import type { Bound } from "../model/state.ts";

/** What the service shows, laid over what was last applied: a recorded value stands only where nothing is shown. */
export function overlay(
  shown: { readonly [path: string]: Seen },
  bound: Bound | undefined,
): { readonly [path: string]: Seen } {
  if (bound === undefined) return shown;
  const recorded = Object.entries({ ...bound.recorded, ...bound.converging?.record }).map(
    ([path, value]): [string, Seen] => [path, { value, source: "recorded" }],
  );
  return { ...Object.fromEntries(recorded), ...shown };
}
