/** @module Guards what other objects stand on that stay: those that the plan leaves out, keeps or lets go of, and unmanaged ones. */
import type { Change } from "../../model/plan.ts";
import { fewOf } from "../../model/quantity.ts";
import type { Spec } from "../../model/spec.ts";
import { referencedIn } from "../../model/templates.ts";
import { specOf } from "../../model/values.ts";
import { releasedHost } from "../removal.ts";
import { heldBy, type PlanInput, type Subjects } from "../subjects.ts";
import type { Hold } from "./missing.ts";
import { destroys } from "./protection.ts";

/**
 * Holds back the deletion of what another object stands on that stays: the service refuses it, or deletes both. If the options leave that
 * one out of the plan, the release of its parent too: it would be deleted later.
 */
export function standingHolds(
  open: readonly Change[],
  subjects: Subjects,
  input: PlanInput,
): readonly Hold[] {
  const keep = "declare it, or let go of it too (lifecycle.onDelete: retain, or removed: destroy: false)";
  const groups = Map.groupBy(standing(open, subjects, input), ({ on, isLeftOut }) => `${on} ${isLeftOut}`);
  return [...groups.values()].map((entries) => {
    const [on, isLeftOut] = [entries[0]?.on, entries[0]?.isLeftOut === true];
    const all = [...new Set(entries.map(({ name }) => name))].sort();
    const [named, isOne] = [fewOf(all), all.length === 1];
    const isExcluded = input.options.exclude.some((name) => all.includes(name));
    const isInside = entries.some((entry) => entry.isInside);
    const ends = (change: Change): boolean => destroys(change) || (isInside && change.action === "forget");
    const stands = `${named} ${isOne ? "stands" : "stand"} on it`;
    return {
      changes: open.filter((change) => change.address === on && ends(change)),
      guard: ({ action }) =>
        isLeftOut
          ? {
              code: "needed-by-left-out",
              message: `${stands}, and this run leaves out ${isOne ? "that one" : "those"}`,
              lift: isExcluded ? `leave out --exclude for ${named}` : `add --target for ${named}`,
            }
          : {
              code: "in-use",
              message: `${stands} and ${isOne ? "stays" : "stay"}: the service refuses to delete it`,
              lift: `${action === "replace" ? "leave it as it is" : keep}; or delete ${named} first`,
            },
    };
  });
}

/** The names of the objects that are there after the plan, with what they stand on: left-out ones with all that they refer to, others with what they are built on. */
function standing(open: readonly Change[], { chosen, leftOut }: Subjects, input: PlanInput) {
  const { kinds, unmanaged } = input;
  const builtOn = (name: string, kind: string, spec: Spec) =>
    referencedIn(kinds.named(kind).schema, spec).flatMap(({ holds, address: on }) =>
      holds ? [{ name, on, isLeftOut: false, isInside: false }] : [],
    );
  return [
    ...leftOut.flatMap((subject) => {
      const host = releasedHost(subject.kind, subject.bound, input);
      const referred = heldBy(subject, kinds);
      return referred.map((on) => ({ name: subject.address, on, isLeftOut: true, isInside: host === on }));
    }),
    ...open.flatMap((change) => {
      const { observed, doubt, bound } = chosen.get(change.address) ?? {};
      const spec = observed === undefined ? doubt && bound?.recorded : specOf(observed);
      return spec === undefined || destroys(change) ? [] : builtOn(change.address, change.kind, spec);
    }),
    ...unmanaged.flatMap(({ kind, id, live }) =>
      live === undefined || live.phase.isLeaving ? [] : builtOn(`unmanaged ${id}`, kind, specOf(live)),
    ),
  ];
}
