import { type Chance, chance } from "../support/chance.ts";
import type { Case, RunCase } from "./case.ts";

/** Some states are in a shared store, which a run loses sight of now and then, while another one waits for its lock. */
export function shared(seed: number, given: Case): Case {
  const dice = chance(seed ^ 0x6a09e667);
  // A slow request waits in the real client, which looks at the lock before it sends it: here nobody looks.
  const isSlow = given.runs.some(({ faults = [] }) => faults.some(({ effect }) => effect === "slow"));
  if (isSlow || given.service.wire !== undefined || !dice.is(0.15)) return given;
  return {
    ...given,
    store: { checksLease: dice.is(0.3) },
    runs: given.runs.map((run) => (isOnlyKilled(run) ? run : { ...run, ...troubles(run, dice) })),
  };
}

/** A run that nothing befalls but a kill is left so: one run more must be enough. */
function isOnlyKilled({ faults, others, rival, stop, abort, crash }: RunCase): boolean {
  return (
    crash !== undefined && [faults, others, rival, stop, abort].every((trouble) => trouble === undefined)
  );
}

function troubles({ plan }: RunCase, dice: Chance): Pick<RunCase, "away" | "rival"> {
  const moment = (): number => Math.round(dice.scale(3, 120));
  const ms = Math.round(dice.scale(5000, 400_000));
  return {
    ...(dice.is(0.7) ? { away: { at: moment(), ms } } : {}),
    ...(dice.is(0.4) && plan === undefined ? { rival: { at: moment(), does: "apply", wait: 600_000 } } : {}),
  };
}
