/** @module Reads every bound object, parents before the objects that are found through them, and looks again for what is missing. */
import { gracePeriod, longestSearch } from "../model/consistency.ts";
import { isServiceError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import { anotherObject, type Doubt, type KnownObject, type Live, placeKey } from "../model/observed.ts";
import { formatDuration } from "../model/quantity.ts";
import type { Bound } from "../model/state.ts";
import { parentsIn } from "../model/templates.ts";
import { lookFor, placeWithWitnesses } from "../polling/prove-absence.ts";
import { look, type ObserveContext, readerOf, skipUnread } from "./observe-context.ts";

/** The verdict on a bound object that the service does not show as it was bound. `hidden`: it is in its creation grace period and counts as there. */
export type Missing = { readonly is: "gone" | "hidden" } | Doubt;

/** Objects as the service shows them. Those that could not be read are in neither map. */
export interface BoundLives {
  readonly lives: Map<KnownObject, Live>;
  readonly missing: Map<KnownObject, Missing>;
  /** Objects whose parent is missing or unknown: their places cannot be listed. */
  readonly unreachable: Set<KnownObject>;
}

/**
 * Reads each bound object, and looks again for those that describe does not show until they are shown, proved absent, or in doubt. An object that
 * is found through a parent is read after it. It goes with a parent that is gone, and is not asked for while the parent is
 * hidden or in doubt: the service may answer with errors. If the parent is not bound any more, an error means that the object is gone.
 */
export async function readBound(bound: readonly KnownObject[], context: ObserveContext): Promise<BoundLives> {
  const reading: BoundLives = { lives: new Map(), missing: new Map(), unreachable: new Set() };
  const roots = bound.filter((entry) => parentsOf(entry, context).length === 0);
  const byId = new Map(roots.map((entry) => [`${entry.kind} ${entry.ref.id}`, entry]));
  await readAll(roots, skipUnread, reading, context);
  const children = bound.filter((entry) => parentsOf(entry, context).length > 0);
  const reachable = children.filter((entry) => {
    for (const key of parentsOf(entry, context)) {
      const parent = byId.get(key);
      const missing = parent === undefined ? undefined : reading.missing.get(parent);
      if (parent === undefined || missing === undefined) continue;
      const what = missing.is === "another" ? "another object by now" : "in doubt";
      const because = `${parent.address}, which it belongs to, is ${what}`;
      reading.missing.set(entry, isDoubt(missing) ? { is: "in-doubt", because } : missing);
      reading.unreachable.add(entry);
      return false;
    }
    return true;
  });
  const failed: typeof skipUnread = (entry, error) => {
    const hasUnknownParent = parentsOf(entry, context).some((key) => !byId.has(key));
    if (!isServiceError(error) || context.signal.aborted || !hasUnknownParent) {
      skipUnread(entry, error, context);
      return;
    }
    reading.missing.set(entry, { is: isYoung(entry, context) ? "hidden" : "gone" });
    reading.unreachable.add(entry);
  };
  await readAll(reachable, failed, reading, context);
  return reading;
}

/** Reads objects that no address is bound to, as `readBound` does; they have no parents to wait for. */
export async function readUnbound(
  entries: readonly KnownObject[],
  context: ObserveContext,
): Promise<BoundLives> {
  const reading: BoundLives = { lives: new Map(), missing: new Map(), unreachable: new Set() };
  await readAll(entries, skipUnread, reading, context);
  return reading;
}

/** Kind and id of the objects that an object is found through. */
export function parentsOf({ kind, ref }: KnownObject, { kinds }: ObserveContext): readonly string[] {
  const parents = parentsIn(kinds.named(kind).schema, ref.place);
  return parents.map((parent) => `${parent.kind} ${parent.id}`);
}

async function readAll(
  entries: readonly KnownObject[],
  failed: typeof skipUnread,
  reading: BoundLives,
  context: ObserveContext,
): Promise<void> {
  const lives = await look(entries, context, failed);
  const sought = entries.filter((entry) => {
    const live = lives.get(entry);
    if (live !== undefined && live.phase.is !== "gone") take(entry, live, reading, context);
    // An object whose deletion the service has accepted is gone as soon as describe does not show it.
    else if (live !== undefined || boundTo(entry, context)?.converging?.operation === "delete")
      reading.missing.set(entry, { is: "gone" });
    else if (context.unread?.has(entry) === true || reading.missing.has(entry)) return false;
    else if (isYoung(entry, context)) reading.missing.set(entry, { is: "hidden" });
    else return true;
    return false;
  });
  const byPlace = Map.groupBy(sought, (entry) => placeKey({ kind: entry.kind, place: entry.ref.place }));
  await Promise.all([...byPlace.values()].map((missing) => lookAgain(missing, reading, context)));
}

/** Looks for missing objects of one place until there is a verdict on each. */
async function lookAgain(
  entries: readonly KnownObject[],
  reading: BoundLives,
  context: ObserveContext,
): Promise<void> {
  const [first] = entries;
  if (first === undefined) return;
  const { clock, profile, signal, onWait } = context;
  const longest = formatDuration(longestSearch(profile.timing));
  onWait?.(`looking again for ${entries.length} not shown (up to ${longest})`);
  const there = { kind: first.kind, place: first.ref.place };
  const sought = new Map(entries.map((entry) => [entry.ref.id, createdAt(entry, context)]));
  const at = placeWithWitnesses(there, readerOf(there.kind, context), context.state);
  try {
    const verdicts = await lookFor(sought, at, { clock, profile, stopping: signal });
    for (const entry of entries) {
      const verdict = verdicts.get(entry.ref.id);
      if (verdict?.is === "shown") take(entry, verdict.live, reading, context);
      else if (verdict?.is === "in-doubt") reading.missing.set(entry, verdict);
      else reading.missing.set(entry, { is: "gone" });
    }
  } catch (error) {
    for (const entry of entries) skipUnread(entry, error, context);
  } finally {
    onWait?.("");
  }
}

/** True if an object may be gone, or is another one. */
export function isDoubt(missing: Missing): missing is Doubt {
  return missing.is === "in-doubt" || missing.is === "another";
}

/** Ignores the values of another object under a bound id: they say nothing of the bound one. */
function take(entry: KnownObject, live: Live, reading: BoundLives, { state }: ObserveContext): void {
  const because = anotherObject(state.resources[entry.address], live);
  if (because === undefined) reading.lives.set(entry, live);
  else reading.missing.set(entry, { is: "another", because, ...defined({ createdAt: live.createdAt }) });
}

function isYoung(entry: KnownObject, context: ObserveContext): boolean {
  return gracePeriod(createdAt(entry, context), context.clock.now(), context.profile.timing) !== "over";
}

function createdAt(entry: KnownObject, context: ObserveContext): number {
  return Date.parse(boundTo(entry, context)?.createdAt ?? "");
}

function boundTo({ address }: KnownObject, { state }: ObserveContext): Bound | undefined {
  return state.resources[address];
}
