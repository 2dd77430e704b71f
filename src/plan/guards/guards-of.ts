/** @module Lists the guards that hold back one change by itself. */
import { shellWord } from "../../model/errors.ts";
import { disruptions, fieldRows, rowAt } from "../../model/field-schema.ts";
import { type Change, type Guard, makesObject } from "../../model/plan.ts";
import { fewOf } from "../../model/quantity.ts";
import { asTyped } from "../../model/values.ts";
import { howToOpen } from "../migration-words.ts";
import { isBeingDeleted } from "../propose.ts";
import { immovableGuards, migrationGuard, replacementGuard } from "../replacement.ts";
import { isStopped, type PlanInput, type Subject } from "../subjects.ts";
import { doubtGuard, openCreateGuard } from "./missing.ts";
import { destroys, protectionGuard, remedyForOnDelete } from "./protection.ts";

/** The guards of one change. A deletion that is under way has passed its guards already. */
export function guardsOf(change: Change, subject: Subject, input: PlanInput): readonly Guard[] {
  const missing = notOfferedGuards(change, subject, input);
  if (isBeingDeleted(subject)) return missing;
  const found = [
    doubtGuard(change, subject),
    openCreateGuard(change, input),
    protectionGuard(change, subject, input),
    replacementGuard(change, subject, input),
    migrationGuard(change, subject, input),
    keptByServiceGuard(change, subject, input),
    adoptionGuard(change),
    takenGuard(change, input),
    disruptionGuard(change, input),
  ];
  const open = howToOpen(subject, input);
  const guards = found.filter((guard) => guard !== undefined);
  const opened = guards.map((guard) => ({ ...guard, lift: guard.lift + open }));
  return [...missing, ...opened, ...immovableGuards(change, input)];
}

/** The guard against a change that is more disruptive than `maxDisruption` allows. */
function disruptionGuard(
  { disruption }: Pick<Change, "disruption">,
  { options, guards }: Pick<PlanInput, "options" | "guards">,
): Guard | undefined {
  const limit = options.maxDisruption ?? guards.maxDisruption;
  if (limit === undefined || !(disruptions.indexOf(disruption) > disruptions.indexOf(limit)))
    return undefined;
  return {
    code: "max-disruption",
    message: `${disruption} is worse than the ${limit} that guards.maxDisruption allows`,
    lift: `--max-disruption ${disruption}`,
  };
}

/** The guard against creating what exists already under the declared name, or with the mark of the address. */
function adoptionGuard({ address, action, mayBe }: Change): Guard | undefined {
  if (mayBe === undefined || mayBe.is === "alike") return undefined;
  const { is, ids, count } = mayBe;
  const named = fewOf(ids, count);
  const bind = `graphform import ${shellWord(address)} ${shellWord(ids[0] ?? "ID")}`;
  if (is === "marked")
    return {
      code: "may-exist",
      message: `${named} ${count === 1 ? "carries" : "carry"} graphform's tags for this address, but this state does not have ${count === 1 ? "it" : "them"}`,
      lift: `${bind}, or delete it at the service`,
    };
  const [verb, subject] = count === 1 ? ["exists", "it is"] : ["exist", "they are"];
  return {
    code: "may-exist",
    message: `${named} ${verb} already under this name, and this state does not know whose ${subject}`,
    lift: action === "create" ? `${bind}, or another name` : "another name",
  };
}

/** The guard against deleting what could not move because its new address is taken. */
function takenGuard(change: Change, { state, moved }: PlanInput): Guard | undefined {
  const to = change.action === "delete" ? moved.find((move) => move.from === change.address)?.to : undefined;
  const id = to === undefined ? undefined : state.resources[to]?.id;
  if (to === undefined || id === undefined) return undefined;
  return {
    code: "moved-taken",
    message: `it is to move to ${to}, where ${id} still stands`,
    lift: `apply once without ${to}, or take back what "moved" says`,
  };
}

/** The guard against a deletion that the service would refuse. A declared update lifts it, never a side effect. */
function keptByServiceGuard(
  change: Pick<Change, "action" | "kind" | "address">,
  { observed }: Subject,
  { kinds }: Pick<PlanInput, "kinds">,
): Guard | undefined {
  if (observed === undefined || !destroys(change)) return undefined;
  const { kind, address } = change;
  const rows = fieldRows(kinds.named(kind).schema);
  const keeping = Object.entries(observed.spec).find(
    ([path, { value }]) => rowAt(rows, path)["x-keeps"] && asTyped(value, "boolean") === true,
  );
  if (keeping === undefined) return undefined;
  const [path] = keeping;
  return {
    code: "kept-by-service",
    message: `${path} is on: the service refuses to delete it`,
    lift: `declare ${path}: false for ${address} and nothing else, and apply that first`,
  };
}

/** The guards against operations that the profile lacks, and against replacing an object that the manifest names by its id. */
function notOfferedGuards(change: Change, subject: Subject, input: PlanInput): readonly Guard[] {
  const missing = missingOperation(change, subject, input);
  const named = requestedId(change, subject);
  const code = "not-offered";
  const lack = `profile ${input.profile.name} has no operation to ${missing?.what}`;
  const lift = "give the id of an existing one, or leave the id out";
  return [
    ...(missing === undefined ? [] : [{ code, message: lack, lift: missing.remedy }]),
    ...(named === undefined
      ? []
      : [{ code, message: `a new object would not be ${named}, which is asked for by its id`, lift }]),
  ];
}

function missingOperation(
  change: Change,
  subject: Subject,
  { kinds, profile }: PlanInput,
): { readonly what: string; readonly remedy: string } | undefined {
  const { noun, operations } = kinds.named(change.kind);
  const lacks = (operation: string): boolean => profile.operations[operation] === undefined;
  const missingVerb = change.action === "migrate" ? (operations.power ?? []).find(lacks) : undefined;
  if (missingVerb !== undefined)
    return {
      what: `${missingVerb.split(".").at(-1)} a ${noun}, and nothing else closes the old one for good`,
      remedy: "lifecycle.onReplace: recreate, after its data was saved by other means",
    };
  if (makesObject(change) && lacks(operations.create))
    return { what: `create a ${noun}`, remedy: "give the id of an existing one" };
  const remedy = "change it by other means, or use a profile that has the operation";
  if (change.action === "replace" && lacks(operations.delete)) return { what: `delete a ${noun}`, remedy };
  const backup = operations.backup ?? [];
  const start = isStopped(subject, { kinds }) ? (operations.power ?? []).slice(-1) : [];
  if (change.backupFirst === true && (backup.length === 0 || [...backup, ...start].some(lacks)))
    return {
      what: `${start.some(lacks) ? `start a ${noun}, ` : ""}back up a ${noun} and see that the backup is complete`,
      remedy: `back it up by other means, then ${remedyForOnDelete(subject)}`,
    };
  const updates = change.action === "update" || change.action === "adopt";
  return updates && change.fields.some(({ via }) => via === undefined) && lacks(operations.update)
    ? { what: `change a ${noun}`, remedy }
    : undefined;
}

/** The id that the spec itself asks for, if the change would make a new object: no new one has it. */
function requestedId(change: Change, { desired }: Subject): string | undefined {
  const id = desired?.importId;
  const makes = change.action === "create" || change.action === "replace";
  return makes && id !== undefined && desired?.spec["id"] === id ? id : undefined;
}
