/** @module Guards that look at the plan as a whole: the empty manifest, the thresholds, two addresses for one object. */
import type { Address } from "../../model/address.ts";
import type { Desired } from "../../model/desired.ts";
import { shellWord } from "../../model/errors.ts";
import { objectKey } from "../../model/observed.ts";
import { type Change, makesObject } from "../../model/plan.ts";
import { fewOf } from "../../model/quantity.ts";
import type { Bound, StateDocument } from "../../model/state.ts";
import { referencesIn, referent } from "../../model/templates.ts";
import { destinations } from "../moves.ts";
import { missingIn } from "../outputs.ts";
import { isBeingDeleted } from "../propose.ts";
import { releasedHost } from "../removal.ts";
import type { PlanInput, Subjects } from "../subjects.ts";
import { everythingGoneHold, type Hold, inUseHolds } from "./missing.ts";
import { destroys, stricterOnDelete } from "./protection.ts";

/** Adds to every change the guards of the whole plan that hold it back. */
export function guardTogether(
  changes: readonly Change[],
  subjects: Subjects,
  input: PlanInput,
): readonly Change[] {
  const isUnderWay = ({ address }: Change): boolean => {
    const subject = subjects.chosen.get(address);
    return subject !== undefined && isBeingDeleted(subject);
  };
  const notBegun = changes.filter((change) => !isUnderWay(change));
  const open = notBegun.filter((change) => change.blocked.length === 0);
  const holds = [
    everythingGoneHold(changes, input),
    emptyManifestHold(open, input),
    // It says why a protected object would go, too.
    fewerFilesHold(notBegun, input),
    deletesHold(open, input),
    changePercentHold(open, input),
    boundElsewhereHold(changes, subjects),
    ...inUseHolds(open, subjects, input),
    missingOutputHold(open, input),
  ];
  return holds.filter((hold) => hold !== undefined).reduce(held, changes);
}

/** Holds back everything that an empty manifest would destroy or forget: it is probably empty by mistake. */
export function emptyManifestHold(open: readonly Change[], input: PlanInput): Hold | undefined {
  const { desired, destroying, options, state } = input;
  if (desired.length > 0 || destroying || options.targets.length > 0) return undefined;
  const existing = Object.keys(state.resources).length;
  // An existing object would be forgotten without a `removed` entry: the manifest may have been cut short.
  const leftBehind = new Set(unannounced(open, input));
  return {
    changes: open.filter((change) => destroys(change) || leftBehind.has(change)),
    guard: () => ({
      code: "empty-manifest",
      message: `the manifest is empty, and the state knows ${existing} resource${existing === 1 ? "" : "s"}`,
      lift: "graphform destroy, if everything is to go",
    }),
  };
}

/** Holds back every end and replacement while a file that the state knows is not given: -f was probably forgotten. An `enabled: false` may be lifted there. */
function fewerFilesHold(changes: readonly Change[], input: PlanInput): Hold | undefined {
  const { notGiven = [], destroying } = input;
  if (notGiven.length === 0 || destroying) return undefined;
  const removed = input.removed.filter(({ lifecycle }) => lifecycle === undefined);
  return {
    changes: unannounced(changes, { ...input, removed }),
    guard: ({ address }) => ({
      code: "fewer-files",
      message: `part of the manifest so far, and not given now: ${fewOf(notGiven)}`,
      lift: `give all of its files with -f; if it has fewer for good: graphform state rebind, or an entry for ${address} under removed`,
    }),
  };
}

/** Existing objects that would be deleted or forgotten without a `removed` entry. */
function unannounced(changes: readonly Change[], input: PlanInput): readonly Change[] {
  const announced = new Set(input.removed.map(({ address }) => address));
  const isAnnounced = ({ address, kind }: Change): boolean =>
    announced.has(address) || announced.has(releasedHost(kind, input.state.resources[address], input) ?? "");
  const ends = (change: Change): boolean =>
    destroys(change) || (change.action === "forget" && change.phase !== undefined);
  return changes.filter((change) => ends(change) && !isAnnounced(change));
}

/** Holds back all deletions if there are more than `guards.maxDeletes`. Objects that have vanished count as deleted. */
export function deletesHold(open: readonly Change[], { guards, destroying }: PlanInput): Hold | undefined {
  const changes = open.filter((change) => destroys(change) || change.gone === true);
  if (guards.maxDeletes === undefined || destroying || changes.length <= guards.maxDeletes) return undefined;
  const gone = changes.filter((change) => change.gone === true).length;
  const words = gone === 0 ? "to destroy" : gone === changes.length ? "gone" : "to destroy or gone";
  return {
    changes,
    guard: (change) => ({
      code: "max-deletes",
      message: `${changes.length} ${words}, and guards.maxDeletes allows ${guards.maxDeletes}`,
      lift: `guards.maxDeletes: ${changes.length}${orForget(change)}`,
    }),
  };
}

function orForget({ gone, address }: Change): string {
  return gone === true ? `; or, if it is gone for good: graphform state rm ${shellWord(address)}` : "";
}

/** Below this number of resources the percentage is not checked: one change of three is 33 %. */
const fewestForPercent = 10;

/** Holds back all changes if they are a larger part of what exists than `guards.maxChangePercent`; `destroy` means all of them. */
function changePercentHold(
  open: readonly Change[],
  { guards, state, destroying }: PlanInput,
): Hold | undefined {
  const changes = open.filter(
    (change) => change.gone === true || ["update", "replace", "migrate", "delete"].includes(change.action),
  );
  const existing = Object.keys(state.resources).length;
  const percent = existing === 0 ? 0 : (100 * changes.length) / existing;
  const limit = guards.maxChangePercent;
  if (limit === undefined || destroying || existing < fewestForPercent || percent <= limit) return undefined;
  return {
    changes,
    guard: (change) => ({
      code: "max-change-percent",
      message: `${changes.length} of ${existing} ${changes.some(({ gone }) => gone) ? "change or are gone" : "change"}, and guards.maxChangePercent allows ${limit} %`,
      lift: `guards.maxChangePercent: ${Math.ceil(percent)}, or --target a few at a time${orForget(change)}`,
    }),
  };
}

/** Holds back adopting an object that another declared address has, if this plan does not let go of it there. */
function boundElsewhereHold(changes: readonly Change[], { chosen, leftOut }: Subjects): Hold | undefined {
  const keeps = ["keep", "update", "move", "replace", "migrate"];
  const keyOf = ({ address, kind, id = "" }: Change): string =>
    objectKey(kind, { id, place: chosen.get(address)?.observed?.place ?? {} });
  const stays = leftOut.flatMap(({ kind, bound, desired }) =>
    bound && desired ? [objectKey(kind, bound)] : [],
  );
  const kept = new Set([...changes.filter(({ action }) => keeps.includes(action)).map(keyOf), ...stays]);
  return {
    changes: changes.filter((change) => change.action === "adopt" && kept.has(keyOf(change))),
    guard: () => ({
      code: "bound-elsewhere",
      message: "another address is bound to the same object, and declared as well",
      lift: 'say it in "moved", or take one of the two out',
    }),
  };
}

/** Holds back what waits for an output that nothing in the plan makes: its old object would be deleted, and no new one created. One that is declared stopped gets no address. */
function missingOutputHold(open: readonly Change[], { kinds, observed }: PlanInput): Hold {
  const isMade = (change: Change): boolean =>
    change.phase?.is === "pending" ||
    makesObject(change) ||
    change.fields.some(({ path }) => Object.hasOwn(kinds.named(change.kind).unknownAfter, path));
  const made = new Map(open.filter(isMade).map((change) => [change.address, change]));
  const isLacking = (reference: string): boolean => {
    const { address, output } = referent(reference);
    const maker = made.get(address);
    if (maker?.after?.["power"] !== "stopped") return maker === undefined;
    return kinds.named(maker.kind).ofRunning.includes(output);
  };
  const lacking = (change: Change): readonly string[] => {
    const sent = change.fields.map(({ after = null }) => after);
    return referencesIn(makesObject(change) ? (change.after ?? {}) : sent).filter(isLacking);
  };
  return {
    changes: open.filter((change) => lacking(change).length > 0),
    guard: (change) => ({
      code: "output-missing",
      message:
        missingIn(change.after ?? {}, { observed }) ??
        `it needs ${lacking(change).join(", ")}, which nothing shows now and nothing in this plan makes`,
      lift: "plan again once it is there; a database that is stopped has none",
    }),
  };
}

function held(changes: readonly Change[], { changes: which, guard }: Hold): readonly Change[] {
  const addresses = new Set(which.map(({ address }) => address));
  return changes.map((change) =>
    addresses.has(change.address) ? { ...change, blocked: [...change.blocked, guard(change)] } : change,
  );
}

/** References of each address: those that are declared, and those that its object has now. */
interface References {
  readonly wantedBy: (address: Address) => readonly Address[];
  readonly heldBy: (address: Address) => readonly Address[];
}

/** Blocks dependents of blocked changes: resources that refer to one, and deletions that one would have to release first. */
export function guardDependents(changes: readonly Change[], references: References): readonly Change[] {
  const result = new Map(changes.map((change) => [change.address, change]));
  const order = new Map(changes.map(({ address }, at) => [address, at]));
  const pairs = changes.flatMap(({ address }) => references.wantedBy(address).map((on) => ({ on, address })));
  const wanting = Map.groupBy(pairs, ({ on }) => on);
  const queue = changes.filter((change) => change.blocked.length > 0);
  for (const cause of queue) {
    const wanted = (wanting.get(cause.address) ?? []).map(({ address }) => address);
    const near = new Set([...references.heldBy(cause.address), ...wanted]);
    for (const address of [...near].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))) {
      const change = result.get(address);
      if (change === undefined || change.blocked.length > 0 || !depends(change, cause, references)) continue;
      const [message, lift] = [`${cause.address} is blocked`, `lift the guard of ${cause.address}`];
      const blocked = { ...change, blocked: [{ code: "depends-on-blocked", message, lift }] };
      result.set(change.address, blocked);
      queue.push(blocked);
    }
  }
  return changes.map((change) => result.get(change.address) ?? change);
}

function depends(change: Change, cause: Change, { wantedBy, heldBy }: References): boolean {
  const isHeld = destroys(change) && heldBy(cause.address).includes(change.address);
  if (isHeld && (destroys(cause) || !wantedBy(cause.address).includes(change.address))) return true;
  const wants = ["create", "update", "replace", "migrate", "adopt"].includes(change.action);
  return wants && cause.action !== "delete" && wantedBy(change.address).includes(cause.address);
}

/**
 * Adds the declared guards to the remembered ones: the stricter of each holds. Those of the blocks that `destroy` is to remove count too, and
 * those of blocks whose `enabled` is false. Only `protect: false` lifts a remembered protection.
 */
export function withDeclaredGuards(
  state: StateDocument,
  { desired, removed, moved, kinds }: Pick<PlanInput, "desired" | "removed" | "moved" | "kinds">,
): StateDocument {
  const ends = destinations(state, moved);
  const leftOut = removed.flatMap(({ address, lifecycle }) =>
    lifecycle === undefined ? [] : [[address, { lifecycle }] as const],
  );
  const declarations = new Map<string, Pick<Desired, "lifecycle"> & Partial<Desired>>([
    ...leftOut,
    ...desired.map((entry) => [entry.address, entry] as const),
  ]);
  const guarded = Object.entries(state.resources).map(([address, bound]): [string, Bound] => {
    const declared = declarations.get(ends.get(address) ?? address);
    if (declared === undefined) return [address, bound];
    const { lifecycle, kind, spec } = declared;
    const byDefault = kind !== undefined && spec !== undefined && kinds.named(kind).protectedByDefault(spec);
    const protect = lifecycle.protect ?? (bound.protect || byDefault);
    return [address, { ...bound, protect, onDelete: stricterOnDelete(lifecycle.onDelete, bound.onDelete) }];
  });
  return { ...state, resources: Object.fromEntries(guarded) };
}
