import { isServiceError } from "../model/errors.ts";
import type { Live } from "../model/observed.ts";
import { type ReferenceField, referenceFields } from "../model/reference-fields.ts";
import { type Known, kindOf, look, type ObserveContext } from "./context.ts";

/** What bound objects show. `lost` are those that cannot be looked at, each with the bound object that it is found through. */
export interface BoundLives {
  readonly lives: readonly (Live | undefined)[];
  readonly lost: ReadonlyMap<Known, Known | undefined>;
}

/**
 * What the service shows of each bound object. What is found through another one is looked at after it, and not at all
 * where that one is not shown: they go together, and the service may have no better answer than an error. Where that one
 * is no longer bound, an error is the answer.
 */
export async function lookAtBound(bound: readonly Known[], context: ObserveContext): Promise<BoundLives> {
  const through = (entry: Known): readonly ReferenceField[] =>
    referenceFields(kindOf(entry.kind, context).schema).filter(
      (field) => field.place && field.output === "id",
    );
  const first = bound.filter((entry) => through(entry).length === 0);
  const seen = new Map((await look(first, context)).map((live, at) => [first[at], live]));
  const isShown = (entry: Known): boolean => {
    const live = seen.get(entry);
    return live !== undefined && live.phase.is !== "gone";
  };
  const absent = new Map(
    first.filter((entry) => !isShown(entry)).map((entry) => [`${entry.kind} ${entry.ref.id}`, entry]),
  );
  const later = bound.filter((entry) => through(entry).length > 0);
  const hostsOf = (entry: Known): readonly string[] =>
    through(entry).map((field) => `${field.section} ${String(entry.ref.place[field.path])}`);
  const lost = new Map<Known, Known | undefined>();
  for (const entry of later) {
    const host = hostsOf(entry)
      .map((key) => absent.get(key))
      .find((found) => found !== undefined);
    if (host !== undefined) lost.set(entry, host);
  }
  const hosts = new Set(first.map(({ kind, ref }) => `${kind} ${ref.id}`));
  const lookAt = async (entry: Known): Promise<void> => {
    try {
      seen.set(entry, (await look([entry], context))[0]);
    } catch (error) {
      const isHomeless = hostsOf(entry).some((key) => !hosts.has(key));
      if (!isServiceError(error) || context.signal.aborted || !isHomeless) throw error;
      lost.set(entry, undefined);
    }
  };
  await Promise.all(later.filter((entry) => !lost.has(entry)).map(lookAt));
  return { lives: bound.map((entry) => seen.get(entry)), lost };
}
