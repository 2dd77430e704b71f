/** @module Protection of existing objects, and what the state remembers of it. */
import { twinIn, withoutTwin } from "../../model/address.ts";
import type { Lifecycle } from "../../model/desired.ts";
import { shellWord } from "../../model/errors.ts";
import type { Change, Guard } from "../../model/plan.ts";
import type { Bound } from "../../model/state.ts";
import { specOf } from "../../model/values.ts";
import { isBeingDeleted } from "../propose.ts";
import type { PlanInput, Subject } from "../subjects.ts";

type OnDelete = Lifecycle["onDelete"];

export type RememberedGuards = Pick<Bound, "protect" | "onDelete" | "refs">;

/** True for changes that delete the object that is there. */
export function destroys({ action }: Pick<Change, "action">): boolean {
  return action === "delete" || action === "replace";
}

/** True if the object must not be deleted or replaced. Only a declared `protect` lifts a remembered one; the default follows what exists. */
export function isProtected(subject: Subject, { kinds }: Pick<PlanInput, "kinds">): boolean {
  const { desired, bound, intent, observed } = subject;
  const remembered = (bound ?? intent)?.protect;
  if (desired === undefined) return remembered ?? true;
  if (desired.lifecycle.protect !== undefined) return desired.lifecycle.protect;
  const existing = observed === undefined ? desired.spec : specOf(observed);
  return remembered === true || kinds.named(desired.kind).protectedByDefault(existing);
}

/** The guard against the deletion of what is protected, and of a former database that runs: with an outdated state it may be the one in use. */
export function protectionGuard(change: Change, subject: Subject, input: PlanInput): Guard | undefined {
  const { address } = change;
  if (!destroys(change) || input.options.allowDestroy.includes(address)) return undefined;
  if (twinIn(address) === "former" && ["ready", "pending"].includes(subject.observed?.phase.is ?? "gone"))
    return {
      code: "protect",
      message: `it runs, though it was stopped when ${withoutTwin(address)} was switched: it may be in use`,
      lift: `graphform ${input.kinds.named(change.kind).noun} stop ${shellWord(address)}, or --allow-destroy ${shellWord(address)}`,
    };
  if (!isProtected(subject, input)) return undefined;
  const isRemembered = subject.desired === undefined && !input.destroying;
  const option = `--allow-destroy ${shellWord(address)}`;
  return {
    code: "protect",
    message: isRemembered ? "protected: protection from the last apply still holds" : "protected",
    lift: isRemembered ? option : `${option}, or lifecycle.protect: false`,
  };
}

/** The guards that the state is to remember. A blocked change alters none of them, but a declared `protect: true` holds from then on. */
export function guardsToRemember(
  { blocked }: Pick<Change, "blocked">,
  subject: Subject,
  input: Pick<PlanInput, "kinds">,
): RememberedGuards | undefined {
  const { desired, bound, intent } = subject;
  const remembered = bound ?? intent;
  if (desired === undefined) return undefined;
  if (blocked.length > 0 && remembered !== undefined) {
    const { protect, onDelete, refs } = remembered;
    return { protect: protect || desired.lifecycle.protect === true, onDelete, refs };
  }
  return { protect: isProtected(subject, input), onDelete: desired.lifecycle.onDelete, refs: desired.refs };
}

/** True if `onDelete: backup` asks for a backup before the object is deleted. A deletion that is under way has passed it. */
export function isBackedUpFirst(
  change: Pick<Change, "action">,
  subject: Subject,
  { kinds }: Pick<PlanInput, "kinds">,
): boolean {
  const rules = [subject.desired?.lifecycle.onDelete, subject.bound?.onDelete];
  // A backup needs a running database; the former one is stopped, and its data was moved.
  if (twinIn(subject.address) !== undefined) return false;
  const holdsData = destroys(change) && kinds.named(subject.kind).holdsData;
  return holdsData && rules.includes("backup") && !isBeingDeleted(subject);
}

/** The remedy for `onDelete`: a rule that the state remembers is lifted by an apply that changes nothing else. */
export function remedyForOnDelete({ bound }: Pick<Subject, "bound">): string {
  const isRemembered = bound !== undefined && bound.onDelete !== "delete";
  return isRemembered
    ? "apply lifecycle.onDelete: delete first, without this change"
    : "lifecycle.onDelete: delete";
}

/** The rule of the two that loses less. */
export function stricterOnDelete(one: OnDelete, other: OnDelete): OnDelete {
  const strict = ["retain", "backup"] as const;
  return strict.find((rule) => rule === one || rule === other) ?? "delete";
}
