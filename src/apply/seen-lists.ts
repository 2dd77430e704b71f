import type { JsonObject } from "../model/json.ts";
import { stableJson } from "../model/json.ts";

/** What one run has seen of how soon lists show what was made. */
export interface SeenLists {
  /** An object of this kind was made at this place, and its answer has arrived. */
  made(kind: string, place: JsonObject, id: string): void;
  /** The place was listed; the list was asked for at `askedAt` (ms since 1970). */
  listed(kind: string, place: JsonObject, ids: readonly string[], askedAt: number): void;
  /** How many objects of the kind lists have shown at the first look, and soon enough to tell; 0 where one was missing. */
  prompt(kind: string): number;
}

/** Nothing is seen yet. What is first listed later than `soon` ms after it was made says nothing. */
export function seenLists(now: () => number, soon: number): SeenLists {
  const fresh = new Map<string, { readonly id: string; readonly at: number }[]>();
  const prompt = new Map<string, number>();
  const late = new Set<string>();
  const keyOf = (kind: string, place: JsonObject): string => `${kind} ${stableJson(place)}`;
  return {
    made: (kind, place, id) => {
      const key = keyOf(kind, place);
      fresh.set(key, [...(fresh.get(key) ?? []), { id, at: now() }]);
    },
    listed: (kind, place, ids, askedAt) => {
      const key = keyOf(kind, place);
      const known = fresh.get(key) ?? [];
      for (const { id, at } of known.filter((each) => each.at <= askedAt)) {
        if (!ids.includes(id)) late.add(kind);
        else if (askedAt - at <= soon) prompt.set(kind, (prompt.get(kind) ?? 0) + 1);
      }
      fresh.set(
        key,
        known.filter((each) => each.at > askedAt),
      );
    },
    prompt: (kind) => (late.has(kind) ? 0 : (prompt.get(kind) ?? 0)),
  };
}
