/** @module Records the phases of a migration in the state, and reports them. */
import type { ApplyContext } from "../apply/context.ts";
import { progressOf } from "../apply/engine/wait-for-operation.ts";
import type { Address } from "../model/address.ts";
import { defined } from "../model/json.ts";
import type { MigrationPhase } from "../model/migration.ts";
import type { Step } from "../model/plan.ts";
import type { Migration } from "../model/state.ts";

/** Records that a migration enters a phase. `more` replaces what is remembered; a value that is undefined is forgotten. */
export async function setPhase(
  address: Address,
  phase: MigrationPhase,
  more: { readonly [key in keyof Migration]?: Migration[key] | undefined },
  { journal, clock }: Pick<ApplyContext, "journal" | "clock">,
): Promise<void> {
  const known = journal.state.migrations?.[address] ?? {};
  const since = new Date(clock.now()).toISOString();
  const migration: Migration = { ...defined({ ...known, ...more }), phase, since };
  await journal.record({ type: "migration", address, migration });
}

/** Records that the migration of a step enters a phase, and reports it. */
export async function enterPhase(
  step: Step,
  phase: MigrationPhase,
  detail: string,
  context: ApplyContext,
  more: Parameters<typeof setPhase>[2] = {},
): Promise<void> {
  await setPhase(step.address, phase, more, context);
  report(step, phase, detail, context);
}

/** Reports the progress of a phase. */
export function report(step: Step, phase: MigrationPhase, detail: string, context: ApplyContext): void {
  const { emit, clock, journal } = context;
  const since = Date.parse(journal.state.migrations?.[step.address]?.since ?? "");
  const elapsed = Number.isNaN(since) ? 0 : Math.max(0, clock.now() - since);
  emit(progressOf(step, elapsed, detail === "" ? phase : `${phase}: ${detail}`));
}
