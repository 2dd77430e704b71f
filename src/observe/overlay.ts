import type { PhaseName, Seen } from "../model/observed.ts";
import type { Bound } from "../model/state.ts";

/**
 * What the service shows, laid over what was last applied: a recorded value stands only where nothing is shown. What was
 * sent since counts as applied, save where it has failed: then nobody knows what came of it.
 */
export function overlay(
  shown: { readonly [path: string]: Seen },
  bound: Bound | undefined,
  phase: PhaseName,
  whole: readonly string[] = [],
): { readonly [path: string]: Seen } {
  if (bound === undefined) return shown;
  const sent = bound.converging?.record ?? {};
  const applied = Object.entries({ ...bound.recorded, ...sent });
  const known = phase === "failed" ? applied.filter(([path]) => !Object.hasOwn(sent, path)) : applied;
  const unseen = known.filter(([path]) => !whole.some((map) => path.startsWith(`${map}.`)));
  const recorded = unseen.map(([path, value]): [string, Seen] => [path, { value, source: "recorded" }]);
  return { ...Object.fromEntries(recorded), ...shown };
}
