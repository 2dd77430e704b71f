/** @module Words what a migration costs, and why an old database is kept. */
import { twinIn, twinOf, withoutTwin } from "../model/address.ts";
import type { MigrationRules } from "../model/desired.ts";
import { readOnlyTime } from "../model/migration.ts";
import { formatDuration } from "../model/quantity.ts";
import type { PlanInput } from "./input.ts";
import type { Subject } from "./subjects.ts";

/** The reason to keep a twin that is not declared: the old object until the time is over for which it is held. */
export function whyHeld({ address }: Subject, input: PlanInput): string | undefined {
  const until = input.state.migrations?.[withoutTwin(address)]?.heldUntil;
  if (twinIn(address) !== "former" || until === undefined || input.destroying) return undefined;
  const isOver = input.now !== undefined && input.now >= Date.parse(until);
  if (isOver || input.options.allowDestroy.includes(address)) return undefined;
  return `its data was moved to ${withoutTwin(address)}; it is kept, stopped, until ${until}`;
}

/** The cost of a migration in words: the rehearsed times, or that nothing was rehearsed yet. */
export function whyMigrated(
  forcedBy: string,
  { address, bound }: Subject,
  { migration }: { readonly migration?: MigrationRules },
  { state, profile }: PlanInput,
): string {
  const rehearsed = state.migrations?.[address]?.rehearsed;
  const isCurrent =
    rehearsed !== undefined && rehearsed.next === state.resources[twinOf(address, "next")]?.id;
  const time = isCurrent
    ? `read-only about ${seconds(readOnlyTime(rehearsed, profile.timing.expect["stop"] ?? 0))} (rehearsed)`
    : "read-only for a time that a rehearsal measures first, which slows the live database down";
  const hold = formatDuration(migration?.hold ?? 0);
  return `${forcedBy} cannot be changed in place: ${bound?.id ?? "it"} is replaced, data kept, ${time}, two databases for ${hold}`;
}

/** The reason for another run of a hook that has failed after the switch, or was not reached. Undefined if none is left to run. */
export function whyHookRuns(
  { address, desired }: Pick<Subject, "address" | "desired">,
  { state }: Pick<PlanInput, "state">,
): string | undefined {
  const { hook } = desired?.lifecycle.migration ?? {};
  return hook === undefined || state.migrations?.[address]?.phase !== "hook"
    ? undefined
    : "its data was moved, and the hook after the switch has not ended with 0: apply runs it again";
}

function seconds(ms: number): string {
  return formatDuration(Math.max(1000, Math.round(ms / 1000) * 1000));
}
