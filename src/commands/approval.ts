/** @module Asks a person to approve a plan. */
import { GraphformError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import { hasChanges } from "../plan/plan.ts";
import type { Terminal } from "./terminal.ts";

/** Options that replace the answer of a person, or change the question. */
export interface ApprovalOptions {
  readonly planFile?: string;
  readonly autoApprove?: boolean;
  readonly destroying: boolean;
}

/** Throws `not-approved` if there is no terminal, no --auto-approve and no saved plan. */
export function assertApprovable(options: ApprovalOptions, { interactive }: Terminal): void {
  if (options.autoApprove === true || options.planFile !== undefined || interactive) return;
  const verb = options.destroying ? "destroy" : "apply";
  throw new GraphformError("not-approved", `no terminal to ask on: ${verb} needs an approval`, {
    hint: options.destroying
      ? "graphform destroy --auto-approve"
      : "graphform apply --auto-approve, or save a plan and apply that",
  });
}

/** Returns true if the person answers yes, or if no question is needed. */
export async function isApproved(
  plan: Plan,
  options: ApprovalOptions,
  terminal: Terminal,
  stopping: AbortSignal,
): Promise<boolean> {
  if (options.autoApprove === true || options.planFile !== undefined || !hasChanges(plan)) return true;
  if (plan.steps.every((step) => step.blocked.length > 0)) return true;
  const isHeld = plan.steps.some((step) => step.blocked.length > 0);
  const [verb, all] = options.destroying ? ["Destroy", "all of this"] : ["Apply", "these changes"];
  const question = `${verb} ${isHeld ? "what is not blocked" : all}?`;
  const yes = await terminal.confirm(`\n${question} Only "yes" is accepted: `, stopping);
  if (!yes) terminal.err("Nothing was changed.\n");
  return yes;
}
