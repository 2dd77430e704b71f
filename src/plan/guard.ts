import type { Address } from "../model/address.ts";
import type { Disruption } from "../model/field-schema.ts";
import { disruptions } from "../model/field-schema.ts";
import type { Change, Guard } from "../model/plan.ts";
import { leaves } from "../model/spec-paths.ts";
import { sameValue } from "./canonical.ts";
import type { PlanInput, Unmanaged } from "./input.ts";
import { kindNamed } from "./input.ts";
import type { Subject } from "./propose.ts";
import { traitAt, traitsOf } from "./traits.ts";

/** Guards of one change by itself: protection, the refusal of replacements, the worst disruption allowed. */
export function guardsOf(change: Change, subject: Subject, input: PlanInput): readonly Guard[] {
  const found: Guard[] = [];
  const destroys = change.action === "delete" || change.action === "replace";
  const allowed = input.options.allowDestroy.includes(change.address);
  if (destroys && !allowed && isProtected(subject, input)) found.push(protectGuard(change, subject));
  if (change.action === "replace" && !allowed && refusesReplacement(change, subject, input)) {
    found.push({
      code: "on-replace",
      message: `${change.forcedBy ?? "this"} needs a replacement, which is refused: the new one starts empty`,
      lift: `--replace ${change.address}, or lifecycle.onReplace: recreate`,
    });
  }
  const twin = change.action === "create" ? twinOf(change, input) : undefined;
  if (twin !== undefined) {
    found.push({
      code: "may-exist",
      message: `${twin.id} is there already under this name, and no state says whose it is`,
      lift: `graphform import '${change.address}' ${twin.id}, or another name`,
    });
  }
  const missing = missingOperation(change, input);
  if (missing !== undefined) {
    found.push({
      code: "not-offered",
      message: `profile ${input.profile.name} has no operation to ${missing}`,
      lift: missing.startsWith("create") ? "give the id of an existing one" : "change it by other means, or use a profile that has the operation",
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
export function guardTogether(changes: readonly Change[], input: PlanInput): readonly Change[] {
  const deletes = changes.filter((change) => isOpen(change) && (change.action === "delete" || change.action === "replace"));
  const touched = changes.filter((change) => isOpen(change) && ["update", "replace", "delete"].includes(change.action));
  const existing = Object.keys(input.state.resources).length;
  const percent = existing === 0 ? 0 : (100 * touched.length) / existing;
  let guarded = changes;
  if (input.desired.length === 0 && !input.destroying && input.options.targets.length === 0) {
    guarded = block(guarded, deletes, {
      code: "empty-manifest",
      message: `the manifest is empty, and the state knows ${existing} resource${existing === 1 ? "" : "s"}`,
      lift: "graphform destroy, if everything is to go",
    });
  }
  if (input.guards.maxDeletes !== undefined && !input.destroying && deletes.length > input.guards.maxDeletes) {
    guarded = block(guarded, deletes, {
      code: "max-deletes",
      message: `${deletes.length} to destroy, and guards.maxDeletes allows ${input.guards.maxDeletes}`,
      lift: `guards.maxDeletes: ${deletes.length}`,
    });
  }
  if (input.guards.maxChangePercent !== undefined && existing >= 10 && percent > input.guards.maxChangePercent) {
    guarded = block(guarded, touched, {
      code: "max-change-percent",
      message: `${touched.length} of ${existing} change, and guards.maxChangePercent allows ${input.guards.maxChangePercent} %`,
      lift: `guards.maxChangePercent: ${Math.ceil(percent)}, or --target a few at a time`,
    });
  }
  return guarded;
}

/** Blocks what depends on something blocked: who refers to it, and for a deletion who is referred to by it. */
export function guardDependents(
  changes: readonly Change[],
  refsOf: (address: Address) => readonly Address[],
): readonly Change[] {
  const blocked = new Map(changes.filter((change) => change.blocked.length > 0).map((change) => [change.address, change]));
  const all = new Map(changes.map((change) => [change.address, change]));
  const result = new Map(all);
  const queue = [...blocked.keys()];
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    const cause = all.get(at);
    for (const change of changes) {
      if (blocked.has(change.address) || change.action === "keep" || cause === undefined) continue;
      if (!depends(change, cause, refsOf)) continue;
      blocked.set(change.address, change);
      queue.push(change.address);
      result.set(change.address, { ...change, blocked: [dependencyGuard(at)] });
    }
  }
  return changes.map((change) => result.get(change.address) ?? change);
}

function depends(change: Change, cause: Change, refsOf: (address: Address) => readonly Address[]): boolean {
  if (change.action === "delete") return cause.action === "delete" && refsOf(cause.address).includes(change.address);
  return cause.action !== "delete" && change.action !== "forget" && refsOf(change.address).includes(cause.address);
}

function dependencyGuard(address: Address): Guard {
  return { code: "depends-on-blocked", message: `${address} is blocked`, lift: `lift the guard of ${address}` };
}

/** An object that nobody is bound to and that shows the declared name and nothing else that differs: a lost state's, maybe. */
function twinOf(change: Change, input: PlanInput): Unmanaged | undefined {
  const traits = traitsOf(kindNamed(input.kinds, change.kind).schema);
  const declared = leaves(change.after ?? {});
  return input.unmanaged.find(({ kind, spec }) => {
    if (kind !== change.kind || spec === undefined) return false;
    const shared = [...declared].flatMap(([path, value]) => {
      const seen = spec[path];
      const trait = traitAt(traits, path);
      return seen === undefined || trait.operations !== undefined ? [] : [{ trait, isSame: sameValue(value, seen.value, trait) }];
    });
    const named = shared.some(({ trait, isSame }) => trait.identity && isSame);
    return named && shared.every(({ trait, isSame }) => isSame || !trait.createOnly);
  });
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
  return updates && change.fields.length > 0 && lacks(kind.operations.update) ? `change a ${kind.noun}` : undefined;
}

function isProtected(subject: Subject, input: PlanInput): boolean {
  const { desired, bound } = subject;
  if (desired === undefined) return bound?.protect ?? true;
  return desired.lifecycle.protect ?? kindNamed(input.kinds, desired.kind).protectedByDefault(desired.spec);
}

function protectGuard(change: Change, subject: Subject): Guard {
  const remembered = subject.desired === undefined;
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
  return subject.desired?.lifecycle.onReplace !== "recreate" && kindNamed(input.kinds, change.kind).holdsData;
}

function isWorse(left: Disruption, right: Disruption): boolean {
  return disruptions.indexOf(left) > disruptions.indexOf(right);
}

function isOpen(change: Change): boolean {
  return change.blocked.length === 0;
}

function block(changes: readonly Change[], which: readonly Change[], guard: Guard): readonly Change[] {
  const addresses = new Set(which.map((change) => change.address));
  return changes.map((change) =>
    addresses.has(change.address) ? { ...change, blocked: [...change.blocked, guard] } : change,
  );
}
