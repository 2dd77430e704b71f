/** @module Asks a person to approve a plan. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GraphformError } from "../model/errors.ts";
import type { Plan } from "../model/plan.ts";
import { hasChanges } from "../plan/plan.ts";
import { affectedBy, maxNamed } from "../report/view/plan-view.ts";
import type { Terminal } from "./terminal/terminal.ts";

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
  const rest = await fileOfAll(plan);
  const yes = await terminal.confirm(`\n${rest}${question} Only "yes" is accepted: `, stopping);
  if (!yes) terminal.err("Nothing was changed.\n");
  return yes;
}

/** Names a file with everything that the plan disrupts if its text names a part only; otherwise nothing. */
async function fileOfAll(plan: Plan): Promise<string> {
  const affected = affectedBy(plan);
  if (affected.every(({ addresses }) => addresses.length <= maxNamed)) return "";
  const file = join(await mkdtemp(join(tmpdir(), "graphform-")), "affected.txt");
  const parts = affected.map(({ title, addresses }) => [`${title} (${addresses.length})`, ...addresses, ""]);
  await writeFile(file, parts.flat().join("\n"), { mode: 0o600 });
  return `Everything that is lost, replaced or restarted is named in ${file}.\n`;
}
