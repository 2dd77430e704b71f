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
  const forget = (reason: string): Change => ({ ...shared, action: "forget", reason, disruption: "none" });
  if (subject.bound === undefined && subject.intent !== undefined)
    return forget("no longer declared, and nothing shows what its create has made");
  if (subject.observed === undefined && subject.doubt === undefined)
    return forget("no longer declared, and gone already");
  const held = whyHeld(subject, input);
  if (held !== undefined) return { ...shared, action: "keep", reason: held, disruption: "none" };
  const importer = importerOf(subject, input);
  if (importer !== undefined) return forget(`bound to ${importer.address} from now on`);
  if (removal?.destroy === false) return forget(removal.reason ?? "let go of, and left as it is");
  if (subject.bound?.onDelete === "retain")
    return forget("no longer declared; onDelete: retain leaves it running");
  const kind = input.kinds.named(subject.kind);
  if (input.profile.operations[kind.operations.delete] === undefined)
    return forget(
      `profile ${input.profile.name} has no operation to delete a ${kind.noun}: it is let go of and stays`,
    );
  const reason = input.destroying ? "everything of this state is removed" : "no longer declared";
  return {
    ...shared,
    action: "delete",
    reason: removal?.reason ?? reason,
    disruption: kind.holdsData ? "data-loss" : "downtime",
  };
}
