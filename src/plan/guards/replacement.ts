/** @module Guards against replacing an object that holds data. */

import { twinOf } from "../../model/address.ts";
import { shellWord } from "../../model/errors.ts";
import { fieldRows, type KindSchema } from "../../model/field-schema.ts";
import type { Change, Guard } from "../../model/plan.ts";
import type { PlanInput } from "../input.ts";
import { afterMoves } from "../moves.ts";
import type { Subject } from "../subjects.ts";
import { remedyForOnDelete } from "./protection.ts";

/** The guard against a replacement that was not asked for. `onReplace: recreate` asks for it, unless `onDelete: retain` keeps the old object. */
export function replacementGuard(change: Change, subject: Subject, input: PlanInput): Guard | undefined {
  const { action, address, kind, forcedBy } = change;
  if (action !== "replace" || input.options.replace.includes(address)) return undefined;
  const option = `--replace ${shellWord(address)}`;
  const { desired, bound } = subject;
  if (bound !== undefined && !input.kinds.named(kind).holdsData) return undefined;
  if (bound !== undefined && desired?.lifecycle.onReplace === "recreate") {
    if (desired.lifecycle.onDelete !== "retain" && bound.onDelete !== "retain") return undefined;
    const message = "a replacement deletes the old one, and lifecycle.onDelete: retain keeps it";
    return { code: "on-replace", message, lift: `${option}, or ${remedyForOnDelete(subject)}` };
  }
  const isMigrated = desired?.lifecycle.onReplace === "migrate";
  const message = isMigrated
    ? `${forcedBy ?? "this"} needs a replacement ${bound === undefined ? "of a database that is not bound yet: apply with the value that it has, and change it then, which moves its data" : "for another reason than a field of its own, and its data is not moved for that"}`
    : `${forcedBy ?? "this"} needs a replacement, which is refused: the new one starts empty`;
  const { operations, schema } = input.kinds.named(kind);
  const canMigrate =
    bound !== undefined &&
    subject.observed?.phase.is === "ready" &&
    forcedBy !== undefined &&
    operations.power?.every((operation) => input.profile.operations[operation] !== undefined) === true &&
    notCarried(change.fields, schema) === undefined;
  const moving = isMigrated || !canMigrate ? "" : "lifecycle.onReplace: migrate keeps the data; ";
  return { code: "on-replace", message, lift: `${moving}${option}, or lifecycle.onReplace: recreate` };
}

/** The first field that forces a replacement and that no way of moving data can carry. */
function notCarried(
  fields: Change["fields"],
  schema: KindSchema,
): { path: string; reason: string } | undefined {
  const carried = (path: string) => fieldRows(schema).get(path)?.["x-carried"];
  const stuck = fields.find(
    ({ path, effect }) => effect === "replace" && carried(path)?.by.includes("copy") === false,
  );
  return stuck && { path: stuck.path, reason: carried(stuck.path)?.reason ?? "" };
}

/** The reasons that the database itself has shown against a copy, with the way by snapshot if that carries all that changes. */
export function immovableGuards(change: Change, input: PlanInput): readonly Guard[] {
  if (change.action !== "migrate") return [];
  const rows = fieldRows(input.kinds.named(change.kind).schema);
  const has = (operation: string): boolean => input.profile.operations[operation] !== undefined;
  const canRestore = ["snapshot.create", "snapshot.copy", "snapshot.restore"].every(has);
  const forcing = change.fields.filter(({ effect }) => effect === "replace");
  const isByWay = forcing.every(({ path }) => rows.get(path)?.["x-carried"]?.by.includes("snapshot"));
  const word = shellWord(change.address);
  const other =
    canRestore && isByWay
      ? `, or move it by hand, without writers: graphform snapshot create ${word}, snapshot copy, snapshot restore`
      : "";
  const found = input.immovable?.get(change.address) ?? [];
  return found.map((guard) => ({ ...guard, lift: `${guard.lift}${other}` }));
}

/** The guard against moving data that cannot be moved now. */
export function migrationGuard(change: Change, subject: Subject, input: PlanInput): Guard | undefined {
  const { action, address, kind, fields } = change;
  if (action !== "migrate") return undefined;
  const code = "on-replace";
  const former = twinOf(address, "former");
  const { resources } = afterMoves(input.state, input.moved, input.kinds);
  if (subject.previousAddress !== undefined && input.state.intents[twinOf(subject.previousAddress, "next")])
    return {
      code,
      message: `the create of its new database is in doubt as ${twinOf(subject.previousAddress, "next")}`,
      lift: "take the moved block out until an apply has resolved it",
    };
  const isGone = !input.observed.has(former) && input.doubts?.has(former) !== true;
  const isLeaving = input.options.allowDestroy.includes(former) || isGone;
  if (resources[former] !== undefined && isLeaving)
    return { code, message: `this plan removes ${former} first`, lift: "apply it, and plan again" };
  if (resources[former] !== undefined)
    return {
      code,
      message: `${former} is still kept from the migration before this one`,
      lift: `graphform replace undo ${shellWord(address)} goes back to it; or take the change back in the manifest; or --allow-destroy ${shellWord(former)} deletes it first, with what it alone holds`,
    };
  const stuck = notCarried(fields, input.kinds.named(kind).schema);
  if (stuck !== undefined)
    return { code, message: `${stuck.path} is not carried: ${stuck.reason}`, lift: "leave it as it is" };
  const isFenced = input.state.migrations?.[address]?.phase === "fence";
  if (subject.observed?.phase.is !== "stopped" || isFenced) return undefined;
  const { noun } = input.kinds.named(kind);
  const message = "it is stopped, and data moves only out of a running database";
  return { code, message, lift: `graphform ${noun} start ${shellWord(address)}` };
}
