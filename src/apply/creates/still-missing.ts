/** @module Looks once more for the object that a plan took for missing, just before it is created again or forgotten. */
import { withoutTwin } from "../../model/address.ts";
import { shellWord } from "../../model/errors.ts";
import { fieldRows } from "../../model/field-schema.ts";
import type { JsonObject } from "../../model/json.ts";
import { type Live, placeKey } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import type { CreateRound } from "../../model/state.ts";
import { sameValue } from "../../model/values.ts";
import { type ApplyContext, driverOf, staleError } from "../context.ts";
import { parentsOf } from "../engine/watch-missing.ts";

type LookContext = Pick<ApplyContext, "drivers" | "journal" | "kinds" | "listedAtStart" | "stopping">;

/**
 * Throws `step-stale` (exit 6) at any sign of the object that the create replaces, or of one that is this address's own. Describes only
 * the first, and ids that the list of the round shows and the observation did not.
 */
export async function assertStillMissing(
  step: Step,
  { before, place }: Pick<CreateRound, "before" | "place">,
  context: LookContext,
): Promise<void> {
  const { address, id, kind } = step;
  const { resources, lineage } = context.journal.state;
  const bound = resources[address];
  const describe = (found: string, at: JsonObject): Promise<Live | undefined> =>
    driverOf(context, kind).get({ id: found, place: at }, context.stopping);
  // An object inside a parent that is no longer bound was deleted with it, and the service may answer with errors for it.
  if (
    id !== undefined &&
    bound?.id === id &&
    !parentsOf(bound.kind, bound.place, context).includes(undefined)
  ) {
    const live = await describe(id, bound.place);
    // Lists may still show objects that graphform has deleted.
    const isListed = before.includes(id) && bound.converging?.operation !== "delete";
    if (live === undefined ? isListed : live.phase.is !== "gone")
      throw staleError(`${id} is there: this plan took it for gone`);
  }
  const { namedBy = "", schema, idAt } = context.kinds.named(kind);
  const observed = context.listedAtStart?.get(placeKey({ kind, place }));
  const own = step.spec?.[namedBy];
  // A place inside of an object that the plan did not know was not listed for it: the name alone decides there.
  const added = before.filter((listed) =>
    observed === undefined ? typeof own === "string" && listed === idAt(place, own) : !observed.has(listed),
  );
  if (added.length === 0) return;
  const known = new Set(Object.values(resources).map((entry) => entry.id));
  const names = [...fieldRows(schema)].filter(([path, row]) => row["x-identity"] || path === namedBy);
  for (const other of added.filter((listed) => !known.has(listed))) {
    const live = await describe(other, place);
    if (live === undefined || live.phase.is === "gone") continue;
    const isMarked = live.owner?.lineage === lineage && live.owner.address === withoutTwin(address);
    const name = names.find(([path, row]) => {
      const [shown, declared] = [live.spec[path]?.value, step.spec?.[path]];
      return shown !== undefined && declared !== undefined && sameValue(shown, declared, row);
    });
    if (!isMarked && name === undefined) continue;
    const why = isMarked ? "carries the mark of this address" : `has the ${name?.[0]} that is declared`;
    throw staleError(
      `${other} ${why}, and was not listed when the plan was made`,
      `make a new plan; to bind it: graphform import ${shellWord(address)} ${shellWord(other)}`,
    );
  }
}

/** True if describe shows the object of a step again. An error, or another object under its id, is no sign of it. */
export async function isThereAgain(
  { kind, id = "", place }: Step,
  context: Pick<ApplyContext, "drivers" | "stopping">,
): Promise<boolean> {
  const live = await driverOf(context, kind)
    .get({ id, place }, context.stopping)
    .catch(() => undefined);
  context.stopping.throwIfAborted();
  return live !== undefined && live.phase.is !== "gone";
}
