/** @module Lays values that the service shows over those that were last applied. */
import type { PhaseName, Seen } from "../model/observed.ts";
import type { Bound } from "../model/state.ts";

/**
 * Lays shown values over the last applied ones: a recorded value is used only where nothing is shown. Values sent since
 * count as applied, unless the operation failed: then they are unknown.
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
