import type { Live } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import type { ApplyContext } from "./context.ts";

/** How long it is still so young that it may not be shown, in ms. */
export function mayHideFor({ address }: Step, { clock, profile, journal }: ApplyContext): number {
  const born = Date.parse(journal.state.resources[address]?.createdAt ?? "");
  return Number.isNaN(born) ? 0 : Math.max(0, born + profile.timing.listLag - clock.now());
}

/**
 * How it looks before it is deleted. What is so young that it may not be shown yet is waited for: a deletion that
 * answers "not found" would have deleted nothing.
 */
export async function onceShown(
  step: Step,
  look: () => Promise<Live | undefined>,
  context: ApplyContext,
): Promise<Live | undefined> {
  const { clock, profile, stopping } = context;
  let pause = profile.timing.poll.first;
  for (;;) {
    const live = await look();
    const left = mayHideFor(step, context);
    if (live !== undefined || left === 0) return live;
    await clock.sleep(Math.min(left, pause), stopping);
    pause = Math.min(profile.timing.poll.longest, pause * 2);
  }
}
