import type { Live } from "./observed.ts";
import type { Intent, StateDocument } from "./state.ts";

/** How far the service's clock and ours may be apart, in ms. */
const skew = 5 * 60_000;

/** Ids that were not there when the create was announced and that nobody is bound to. */
export function unclaimed(intent: Intent, listed: readonly string[], state: StateDocument): readonly string[] {
  const bound = new Set(Object.values(state.resources).map((entry) => entry.id));
  const before = new Set(intent.before);
  return listed.filter((id) => !before.has(id) && !bound.has(id));
}

/**
 * True where nothing that the object shows speaks against it being what the intent created. `references` are the
 * paths whose values are names here and ids there: they say nothing.
 */
export function couldBe(live: Live, intent: Intent, references: ReadonlySet<string>): boolean {
  if (live.phase.is === "gone") return false;
  const created = live.createdAt === undefined ? Number.NaN : Date.parse(live.createdAt);
  if (created < Date.parse(intent.startedAt) - skew) return false;
  return Object.entries(live.spec).every(([path, seen]) => {
    const wanted = intent.recorded[path];
    return wanted === undefined || references.has(path) || seen.source === "recorded" || typeof wanted === "object" || sameText(wanted, seen.value);
  });
}

function sameText(left: unknown, right: unknown): boolean {
  return String(left).toLowerCase() === String(right).toLowerCase();
}
