/** @module Guards what relies on a bound object that the service does not show, and what an object stands on that stays. */
import type { Address } from "../../model/address.ts";
import { shellWord } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import { type Observed, remedyForAnother } from "../../model/observed.ts";
import type { Change, Guard } from "../../model/plan.ts";
import { fewOf } from "../../model/quantity.ts";
import type { Spec } from "../../model/spec.ts";
import { parentsIn, referencedIn } from "../../model/templates.ts";
import { specOf } from "../../model/values.ts";
import { afterMoves } from "../moves.ts";
import { releasedHost } from "../removal.ts";
import { heldBy, type PlanInput, type Subject, type Subjects } from "../subjects.ts";
import { destroys } from "./protection.ts";

/** A guard of the whole plan, and the changes that it holds back. */
export interface Hold {
  readonly guard: (change: Change) => Guard;
  readonly changes: readonly Change[];
}

/**
 * The guard against a change of an object that may be gone, or is another one by now, and against the deletion of one that only its time tells
 * to be that of a lost create: nothing has signed in there yet. Letting go of it needs no proof.
 */
export function doubtGuard(change: Change, { bound, doubt }: Subject): Guard | undefined {
  const { action, address } = change;
  if (bound === undefined || action === "forget") return undefined;
  const word = shellWord(address);
  if (bound.converging?.byTime !== undefined && destroys(change))
    return {
      code: "in-doubt",
      message: `${bound.id} was matched to the lost create by its time alone, and no login has confirmed it yet`,
      lift: `apply the manifest without this deletion first: that confirms it; if it belongs to others: graphform state rm ${word}`,
    };
  if (doubt === undefined) return undefined;
  const { is, because } = doubt;
  if (is === "another")
    return { code: "another-object", message: because, lift: remedyForAnother(address, bound.id) };
  return {
    code: "in-doubt",
    message: `nothing proves that ${bound.id} is gone, or that it is there: ${because}`,
    lift: `plan again with the rights and the account that show it; if it is gone for good: graphform state rm ${word}; if it has another id: graphform import ${word} ID`,
  };
}

/** The guard of an open create in doubt, against forgetting it and against creates whose objects nothing would tell from its own. */
export function openCreateGuard(
  { action, address, after = {}, kind: name }: Change,
  { createsInDoubt = new Map(), kinds, state }: PlanInput,
): Guard | undefined {
  const code = "create-in-doubt";
  const own = createsInDoubt.get(address);
  if (own !== undefined && action === "forget")
    return { code, ...own, lift: `${own.lift}; import needs the block of ${address} in the manifest` };
  if (action !== "create" && action !== "replace") return undefined;
  if (own !== undefined) return { code, ...own };
  const kind = kinds.named(name);
  if (kind.namedBy !== undefined || createsInDoubt.size === 0) return undefined;
  const key = `${name} ${kind.classKey(after)}`;
  const classOf = (open: Address): string | undefined =>
    state.rounds[state.intents[open]?.round ?? ""]?.classKey;
  const [other] = [...createsInDoubt].filter(([open]) => classOf(open) === key);
  if (other === undefined) return undefined;
  const [open, { message, lift }] = other;
  return { code, message: `nothing would tell its object from that of ${open}: ${message}`, lift };
}

/**
 * Holds back the changes of vanished objects, and of what is inside, if no bound object without a parent is shown any more, at all or of their
 * tier, of which lists show nothing else either: a tier may have a subscription of its own. `--allow-destroy` lifts it.
 */
export function everythingGoneHold(changes: readonly Change[], input: PlanInput): Hold | undefined {
  const { observed, options, unmanaged } = input;
  const roots = rootsOf(input);
  const isShown = (live: Observed | undefined): boolean => live !== undefined && live.phase.isHidden !== true;
  const shown = [...roots.keys()].filter((at) => isShown(observed.get(at)));
  const tiers = new Set([
    ...shown.map((at) => roots.get(at)),
    ...unmanaged.map(({ place }) => place["tier"]),
  ]);
  const isHeld = (address: Address): boolean =>
    roots.has(address) &&
    !options.allowDestroy.includes(address) &&
    (shown.length === 0 || (roots.get(address) !== undefined && !tiers.has(roots.get(address))));
  const rootOf = ({ address, refs = [] }: Change): Address | undefined =>
    (roots.has(address) ? [address] : refs).find(isHeld);
  const which = shown.length === 0 ? `(${roots.size})` : "in its tier";
  return {
    changes: changes.filter((change) => change.gone && rootOf(change)),
    guard: (change) => ({
      code: "everything-gone",
      message: `the service shows nothing any more of what this state binds ${which}: lost rights, an ended subscription and another account look the same`,
      lift: `plan again with the rights and the account of the last apply; if it is gone for good: --allow-destroy ${shellWord(rootOf(change) ?? "")}, or graphform state rm ${shellWord(change.address)}`,
    }),
  };
}

/** Bound addresses whose objects are not found through others, each with its tier if it has one. */
function rootsOf({ state, moved, kinds }: PlanInput): ReadonlyMap<Address, Json | undefined> {
  const bound = Object.entries(afterMoves(state, moved, kinds).resources);
  return new Map(
    bound.flatMap(([address, { kind, place }]) => {
      const schema = kinds.find(kind)?.schema;
      const hasParent = schema !== undefined && parentsIn(schema, place).length > 0;
      return hasParent ? [] : [[address, place["tier"]] as const];
    }),
  );
}

/**
 * Holds back the deletion of what another object stands on that stays: the service refuses it, or deletes both. If the options leave that
 * one out of the plan, the release of its parent too: it would be deleted later.
 */
export function inUseHolds(open: readonly Change[], subjects: Subjects, input: PlanInput): readonly Hold[] {
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
  const { kinds, unmanaged, tenants = unmanaged } = input;
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
    ...tenants.flatMap(({ kind, id, live }) =>
      live === undefined || live.phase.isLeaving ? [] : builtOn(`unmanaged ${id}`, kind, specOf(live)),
    ),
  ];
}
