/** @module Guards against replacing an object that holds data. */

import { shellWord } from "../../model/errors.ts";
import type { Change, Guard } from "../../model/plan.ts";
import type { PlanInput } from "../input.ts";
import type { Subject } from "../subject.ts";
import { remedyForOnDelete } from "./protection.ts";

/**
 * The guard against a replacement that was not asked for. `onReplace: recreate` asks for it, save if `onDelete: retain`
 * keeps the old object: a replacement deletes it.
 */
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
  const message = `${forcedBy ?? "this"} needs a replacement, which is refused: the new one starts empty`;
  return { code: "on-replace", message, lift: `${option}, or lifecycle.onReplace: recreate` };
}
