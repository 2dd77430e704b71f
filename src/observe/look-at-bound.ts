/** @module Reads every bound object, parents before the objects that are found through them. */
import { isServiceError } from "../model/errors.ts";
import type { Live } from "../model/observed.ts";
import { type ReferenceField, referenceFields } from "../model/reference-fields.ts";
import { type Known, lookAtOne, type ObserveContext } from "./context.ts";
import { look, skipUnread } from "./unread.ts";

/** Bound objects as the service shows them. `lost` maps objects that cannot be read to their parents; undefined for an unknown parent. */
export interface BoundLives {
  readonly lives: readonly (Live | undefined)[];
  readonly lost: ReadonlyMap<Known, Known | undefined>;
}

/**
 * Reads each bound object. An object that is found through a parent is read after it, and not at all where the parent is not
 * shown: the service deletes them together and may answer with an error. Where the parent is not bound any more, an error
 * counts as "not shown".
 */
export async function lookAtBound(bound: readonly Known[], context: ObserveContext): Promise<BoundLives> {
  const through = (entry: Known): readonly ReferenceField[] =>
    referenceFields(context.kinds.named(entry.kind).schema).filter(
      (field) => field.place && field.output === "id",
    );
  const first = bound.filter((entry) => through(entry).length === 0);
  const seen = new Map((await look(first, context)).map((live, at) => [first[at], live]));
  const isShown = (entry: Known): boolean => {
    const live = seen.get(entry);
    if (context.unread?.has(entry) === true) return true;
    return live !== undefined && live.phase.is !== "gone";
  };
  const absent = new Map(
    first.filter((entry) => !isShown(entry)).map((entry) => [`${entry.kind} ${entry.ref.id}`, entry]),
  );
  const later = bound.filter((entry) => through(entry).length > 0);
  const parentsOf = (entry: Known): readonly string[] =>
    through(entry).map((field) => `${field.section} ${String(entry.ref.place[field.path])}`);
  const lost = new Map<Known, Known | undefined>();
  for (const entry of later) {
    const parent = parentsOf(entry)
      .map((key) => absent.get(key))
      .find((found) => found !== undefined);
    if (parent !== undefined) lost.set(entry, parent);
  }
  const boundParents = new Set(first.map(({ kind, ref }) => `${kind} ${ref.id}`));
  const lookAt = async (entry: Known): Promise<void> => {
    try {
      seen.set(entry, await lookAtOne(entry, context));
    } catch (error) {
      const hasUnknownParent = parentsOf(entry).some((key) => !boundParents.has(key));
      if (!isServiceError(error) || context.signal.aborted || !hasUnknownParent)
        skipUnread(entry, error, context);
      else lost.set(entry, undefined);
    }
  };
  await Promise.all(later.filter((entry) => !lost.has(entry)).map(lookAt));
  return { lives: bound.map((entry) => seen.get(entry)), lost };
}
