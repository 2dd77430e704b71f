/** @module Guards against changes that the service has no operation for. */
import type { Change, Guard } from "../../model/plan.ts";
import type { PlanInput } from "../input.ts";
import type { Subject } from "../subject.ts";
import { liftOfOnDelete } from "./protection.ts";

/** The guards against operations that the profile lacks, and against replacing an object that the manifest names by its id. */
export function notOfferedGuards(change: Change, subject: Subject, input: PlanInput): readonly Guard[] {
  const missing = missingOperation(change, subject, input);
  const named = requestedId(change, subject);
  return [
    ...(missing === undefined
      ? []
      : [
          {
            code: "not-offered",
            message: `profile ${input.profile.name} has no operation to ${missing.what}`,
            lift: missing.lift,
          },
        ]),
    ...(named === undefined
      ? []
      : [
          {
            code: "not-offered",
            message: `a new object would not be ${named}, which is asked for by its id`,
            lift: "give the id of an existing one, or leave the id out",
          },
        ]),
  ];
}

interface Missing {
  readonly what: string;
  readonly lift: string;
}

function missingOperation(
  change: Change,
  subject: Subject,
  { kinds, profile }: PlanInput,
): Missing | undefined {
  const { noun, operations } = kinds.named(change.kind);
  const lacks = (operation: string): boolean => profile.operations[operation] === undefined;
  const makes = change.action === "create" || change.action === "replace";
  if (makes && lacks(operations.create))
    return { what: `create a ${noun}`, lift: "give the id of an existing one" };
  const lift = "change it by other means, or use a profile that has the operation";
  if (change.action === "replace" && lacks(operations.delete)) return { what: `delete a ${noun}`, lift };
  const backup = operations.backup ?? [];
  if (change.backupFirst === true && (backup.length === 0 || backup.some(lacks)))
    return {
      what: `back up a ${noun} and see that the backup is complete`,
      lift: `back it up by other means, then ${liftOfOnDelete(subject)}`,
    };
  const updates = change.action === "update" || change.action === "adopt";
  return updates && change.fields.some(({ via }) => via === undefined) && lacks(operations.update)
    ? { what: `change a ${noun}`, lift }
    : undefined;
}

/** The id that the spec itself asks for, where the change would make a new object: no new one has it. */
function requestedId(change: Change, { desired }: Subject): string | undefined {
  const id = desired?.importId;
  const makes = change.action === "create" || change.action === "replace";
  return makes && id !== undefined && desired?.spec["id"] === id ? id : undefined;
}
