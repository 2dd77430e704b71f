import type { Address } from "../model/address.ts";
import type { Disruption } from "../model/field-schema.ts";
import { disruptions } from "../model/field-schema.ts";
import type { Change, Guard } from "../model/plan.ts";
import type { PlanInput } from "./input.ts";
import { kindNamed } from "./input.ts";
import { isBeingDeleted } from "./propose.ts";
import type { Subject } from "./subject.ts";
import { twinsOf } from "./twins.ts";

/**
 * Guards of one change by itself: protection, the refusal of replacements, the worst disruption allowed. A deletion
 * that is under way has passed them already.
 */
export function guardsOf(change: Change, subject: Subject, input: PlanInput): readonly Guard[] {
  const found: Guard[] = [];
  const missing = missingOperation(change, input);
  if (missing !== undefined) {
    found.push({
      code: "not-offered",
      message: `profile ${input.profile.name} has no operation to ${missing}`,
      lift: missing.startsWith("create")
        ? "give the id of an existing one"
        : "change it by other means, or use a profile that has the operation",
    });
  }
  const named = asksForObject(change, subject);
  if (named !== undefined) {
    found.push({
      code: "not-offered",
      message: `a new object would not be ${named}, which is asked for by its id`,
      lift: "give the id of an existing one, or leave the id out",
    });
  }
  if (isBeingDeleted(subject)) return found;
  const destroys = change.action === "delete" || change.action === "replace";
  const allowed = input.options.allowDestroy.includes(change.address);
  if (destroys && !allowed && isProtected(subject, input)) found.push(protectGuard(change, subject, input));
  if (change.action === "replace" && !allowed && refusesReplacement(change, subject, input)) {
    found.push({
      code: "on-replace",
      message: `${change.forcedBy ?? "this"} needs a replacement, which is refused: the new one starts empty`,
      lift: `--replace ${change.address}, or lifecycle.onReplace: recreate`,
    });
  }
  const twins = change.action === "create" ? twinsOf(change.kind, change.after ?? {}, input) : [];
  const [twin] = twins;
  if (twin !== undefined) {
    const ids = twins.map(({ id }) => id).join(" and ");
    found.push({
      code: "may-exist",
      message: `${ids} ${twins.length === 1 ? "is" : "are"} there already under this name, and no state says whose ${twins.length === 1 ? "it is" : "they are"}`,
      lift: `graphform import '${change.address}' ${twin.id}, or another name`,
    });
  }
  const taken = change.action === "delete" ? takenBy(change.address, input) : undefined;
  if (taken !== undefined) {
    found.push({
      code: "moved-taken",
      message: `it is to move to ${taken.to}, where ${taken.id} still stands`,
      lift: `apply once without ${taken.to}, or take back what "moved" says`,
    });
  }
  const limit = input.options.maxDisruption ?? input.guards.maxDisruption;
  if (limit !== undefined && isWorse(change.disruption, limit)) {
    found.push({
      code: "max-disruption",
      message: `${change.disruption} is worse than the ${limit} that guards.maxDisruption allows`,
      lift: `--max-disruption ${change.disruption}`,
    });
  }
  return found;
}

/** Guards that look at the plan as a whole: the empty manifest, the thresholds. */
export function guardTogether(
  changes: readonly Change[],
  subjects: ReadonlyMap<Address, Subject>,
  input: PlanInput,
): readonly Change[] {
  const open = changes.filter((change) => change.blocked.length === 0 && !isUnderWay(change, subjects));
  const deletes = open.filter((change) => change.action === "delete" || change.action === "replace");
  const touched = open.filter((change) => ["update", "replace", "delete"].includes(change.action));
  const existing = Object.keys(input.state.resources).length;
  const percent = existing === 0 ? 0 : (100 * touched.length) / existing;
  let guarded = changes;
  if (input.desired.length === 0 && !input.destroying && input.options.targets.length === 0) {
    guarded = block(guarded, [...deletes, ...open.filter((change) => isLeftBehind(change, input))], {
      code: "empty-manifest",
      message: `the manifest is empty, and the state knows ${existing} resource${existing === 1 ? "" : "s"}`,
      lift: "graphform destroy, if everything is to go",
    });
  }
  if (
    input.guards.maxDeletes !== undefined &&
    !input.destroying &&
    deletes.length > input.guards.maxDeletes
  ) {
    guarded = block(guarded, deletes, {
      code: "max-deletes",
      message: `${deletes.length} to destroy, and guards.maxDeletes allows ${input.guards.maxDeletes}`,
      lift: `guards.maxDeletes: ${deletes.length}`,
    });
  }
  if (
    input.guards.maxChangePercent !== undefined &&
    existing >= 10 &&
    percent > input.guards.maxChangePercent
  ) {
    guarded = block(guarded, touched, {
      code: "max-change-percent",
      message: `${touched.length} of ${existing} change, and guards.maxChangePercent allows ${input.guards.maxChangePercent} %`,
      lift: `guards.maxChangePercent: ${Math.ceil(percent)}, or --target a few at a time`,
    });
  }
  return block(
    guarded,
    changes.filter((change) => staysElsewhere(change, changes)),
    {
      code: "bound-elsewhere",
      message: "another address is bound to the same object, and declared as well",
      lift: 'say it in "moved", or take one of the two out',
    },
  );
}

/** Asks for an object that the address which has it keeps. */
function staysElsewhere(change: Change, all: readonly Change[]): boolean {
  const keeps = ["keep", "update", "move", "replace"];
  return (
    change.action === "adopt" &&
    all.some((other) => other.kind === change.kind && other.id === change.id && keeps.includes(other.action))
  );
}

/** What stands where an address was to move to; undefined where nothing is to move, or the way was free. */
function takenBy(
  address: Address,
  { state, moved }: PlanInput,
): { readonly to: Address; readonly id: string } | undefined {
  const to = moved.find((move) => move.from === address)?.to;
  const id = to === undefined ? undefined : state.resources[to]?.id;
  return to === undefined || id === undefined ? undefined : { to, id };
}

/** The id that the spec itself asks for, where the change would make a new object: no new one has it. */
function asksForObject(change: Change, subject: Subject): string | undefined {
  const id = subject.desired?.importId;
  const makes = change.action === "create" || change.action === "replace";
  return makes && id !== undefined && subject.desired?.spec["id"] === id ? id : undefined;
}

/** What the change needs and the service does not offer, in words. */
function missingOperation(change: Change, input: PlanInput): string | undefined {
  const kind = kindNamed(input.kinds, change.kind);
  const lacks = (operation: string): boolean => input.profile.operations[operation] === undefined;
  if ((change.action === "create" || change.action === "replace") && lacks(kind.operations.create)) {
    return `create a ${kind.noun}`;
  }
  if (change.action === "replace" && lacks(kind.operations.delete)) return `delete a ${kind.noun}`;
  const updates = change.action === "update" || change.action === "adopt";
  return updates && change.fields.length > 0 && lacks(kind.operations.update)
    ? `change a ${kind.noun}`
    : undefined;
}

function isProtected(subject: Subject, input: PlanInput): boolean {
  const { desired, bound } = subject;
  if (desired === undefined) return bound?.protect ?? true;
  return desired.lifecycle.protect ?? kindNamed(input.kinds, desired.kind).protectedByDefault(desired.spec);
}

function protectGuard(change: Change, subject: Subject, input: PlanInput): Guard {
  const remembered = subject.desired === undefined && !input.destroying;
  return {
    code: "protect",
    message: remembered ? "protected; the guard outlives its block in the manifest" : "protected",
    lift: remembered
      ? `--allow-destroy ${change.address}`
      : `--allow-destroy ${change.address}, or lifecycle.protect: false`,
  };
}

function refusesReplacement(change: Change, subject: Subject, input: PlanInput): boolean {
  if (input.options.replace.includes(change.address)) return false;
  if (subject.bound === undefined) return true;
  return subject.desired?.lifecycle.onReplace !== "recreate" && kindNamed(input.kinds, change.kind).holdsData;
}

function isWorse(left: Disruption, right: Disruption): boolean {
  return disruptions.indexOf(left) > disruptions.indexOf(right);
}

function isUnderWay(change: Change, subjects: ReadonlyMap<Address, Subject>): boolean {
  const subject = subjects.get(change.address);
  return subject !== undefined && isBeingDeleted(subject);
}

/** Let go of although it is there and nobody said so: a manifest that lost its text would lose track of it. */
function isLeftBehind(change: Change, input: PlanInput): boolean {
  const said = input.removed.some((removal) => removal.address === change.address);
  return change.action === "forget" && change.phase !== undefined && !said;
}

function block(changes: readonly Change[], which: readonly Change[], guard: Guard): readonly Change[] {
  const addresses = new Set(which.map((change) => change.address));
  return changes.map((change) =>
    addresses.has(change.address) ? { ...change, blocked: [...change.blocked, guard] } : change,
  );
}
