import { isServiceError } from "../model/errors.ts";
import type { Live } from "../model/observed.ts";
import { type ReferenceField, referenceFields } from "../model/reference-fields.ts";
import { type Known, kindOf, look, type ObserveContext } from "./context.ts";

/**
 * What the service shows of each bound object. What is found through another one is looked at after it, and not at all
 * where that one is gone: it went with it, and its service may have no better answer than an error. Where that one is
 * no longer bound, an error is the answer.
 */
export async function lookAtBound(
  bound: readonly Known[],
  context: ObserveContext,
): Promise<{ readonly lives: readonly (Live | undefined)[]; readonly lost: ReadonlySet<Known> }> {
  const through = (entry: Known): readonly ReferenceField[] =>
    referenceFields(kindOf(entry.kind, context).schema).filter(
      (field) => field.place && field.output === "id",
    );
  const first = bound.filter((entry) => through(entry).length === 0);
  const seen = new Map((await look(first, context)).map((live, at) => [first[at], live]));
  const gone = new Set(
    first.filter((entry) => seen.get(entry) === undefined).map(({ kind, ref }) => `${kind} ${ref.id}`),
  );
  const later = bound.filter((entry) => through(entry).length > 0);
  const isLost = (entry: Known): boolean =>
    through(entry).some((field) => gone.has(`${field.section} ${String(entry.ref.place[field.path])}`));
  const lost = new Set(later.filter(isLost));
  const homes = new Set(first.map(({ kind, ref }) => `${kind} ${ref.id}`));
  const isHomeless = (entry: Known): boolean =>
    through(entry).some((field) => !homes.has(`${field.section} ${String(entry.ref.place[field.path])}`));
  const lookAt = async (entry: Known): Promise<void> => {
    try {
      seen.set(entry, (await look([entry], context))[0]);
    } catch (error) {
      if (!isServiceError(error) || context.signal.aborted || !isHomeless(entry)) throw error;
      lost.add(entry);
    }
  };
  await Promise.all(later.filter((entry) => !lost.has(entry)).map(lookAt));
  return { lives: bound.map((entry) => seen.get(entry)), lost };
}
