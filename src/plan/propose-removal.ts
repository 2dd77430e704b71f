/** @module Proposes the change for an address that is bound and no longer declared. */
import type { Change } from "../model/plan.ts";
import { importerOf } from "./importer.ts";
import type { PlanInput } from "./input.ts";
import { whyHeld } from "./migration-words.ts";
import type { Subject } from "./subjects.ts";
import { base, specOf } from "./subjects.ts";

/** The change for an address that is no longer declared, and is bound or has a create in doubt: delete or forget. */
export function proposeRemoval(subject: Subject, input: PlanInput): Change {
  const removal = input.removed.find((entry) => entry.address === subject.address);
  const shared = {
    ...base(subject),
    fields: [],
    ...(subject.observed === undefined ? {} : { before: specOf(subject.observed) }),
    ...(removal === undefined ? {} : { where: removal.where }),
  };
  if (subject.bound === undefined && subject.intent !== undefined) {
    const reason = "no longer declared, and nothing shows what its create has made";
    return { ...shared, action: "forget", reason, disruption: "none" };
  }
  if (subject.observed === undefined && subject.doubt === undefined) {
    return {
      ...shared,
      action: "forget",
      reason: "no longer declared, and gone already",
      disruption: "none",
    };
  }
  const held = whyHeld(subject, input);
  if (held !== undefined) return { ...shared, action: "keep", reason: held, disruption: "none" };
  const importer = importerOf(subject, input);
  if (importer !== undefined) {
    return {
      ...shared,
      action: "forget",
      reason: `bound to ${importer.address} from now on`,
      disruption: "none",
    };
  }
  if (removal?.destroy === false) {
    return {
      ...shared,
      action: "forget",
      reason: removal.reason ?? "let go of, and left as it is",
      disruption: "none",
    };
  }
  if (subject.bound?.onDelete === "retain") {
    return {
      ...shared,
      action: "forget",
      reason: "no longer declared; onDelete: retain leaves it running",
      disruption: "none",
    };
  }
  const kind = input.kinds.named(subject.kind);
  if (input.profile.operations[kind.operations.delete] === undefined) {
    const reason = `profile ${input.profile.name} has no operation to delete a ${kind.noun}: it is let go of and stays`;
    return { ...shared, action: "forget", reason, disruption: "none" };
  }
  const reason = input.destroying ? "everything of this state is removed" : "no longer declared";
  return {
    ...shared,
    action: "delete",
    reason: removal?.reason ?? reason,
    disruption: kind.holdsData ? "data-loss" : "downtime",
  };
}
