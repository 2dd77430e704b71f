import type { Chance } from "../support/chance.ts";
import type { Case, ResourceCase, RunCase } from "./case.ts";
import { database, user } from "./case-parts.ts";
import { changed, replaced } from "./generate-manifest.ts";

/**
 * A plan is kept, and other runs come before its application: what it is about is replaced, deleted, forgotten or made by
 * them, and its addresses are bound to other objects, or to none.
 */
export function outdated(given: Case, dice: Chance): Case {
  const first: ResourceCase = { ...database(1, { name: "db 1" }, { protect: false }), onReplace: "recreate" };
  const dweller = dice.is(0.3) ? [user(2, "users.a")] : [];
  const before = [first, ...dweller];
  const planned = [...after(first, 3, dice), ...(dice.is(0.7) ? dweller : [])];
  const resources = planned.some(({ address }) => address === first.address)
    ? planned
    : planned.filter(({ address }) => !address.startsWith("users."));
  // A manifest without anything deletes nothing.
  const kept = database(9, {}, { address: "instances.kept", protect: false });
  const wanted = [kept, ...resources];
  const released =
    wanted.some(({ address }) => address === first.address) || dice.is(0.8) ? [] : ["instances.a"];
  const say = (run: RunCase): RunCase => (released.length > 0 ? { ...run, released } : run);
  const isMade = dice.is(0.8);
  return {
    ...given,
    runs: [
      { does: "apply", resources: isMade ? [kept, ...before] : [kept] },
      say({ does: "apply", plan: "save", resources: wanted }),
      ...between(first, kept, dice),
      say({ does: "apply", plan: "use", resources: wanted, later: 1000, ...killed(dice) }),
    ],
  };
}

/** The database changed in place, replaced, stopped, or left out. */
function after(resource: ResourceCase, version: number, dice: Chance): readonly ResourceCase[] {
  const way = dice.next();
  if (way < 0.2) return [changed(resource, dice, version)];
  if (way < 0.4) return [replaced(resource, dice, version)];
  if (way < 0.5) return [{ ...resource, spec: { ...resource.spec, power: "stopped" } }];
  return way < 0.6 ? [resource] : [];
}

/** Runs that know nothing of the plan. */
function between(resource: ResourceCase, kept: ResourceCase, dice: Chance): readonly RunCase[] {
  const run = (resources: readonly ResourceCase[], released: readonly string[] = []): RunCase => ({
    does: "apply",
    resources: [kept, ...resources],
    later: 1000,
    ...(released.length > 0 ? { released } : {}),
    ...killed(dice),
  });
  const anew = replaced(resource, dice, 5);
  return dice.of<readonly RunCase[]>([
    [run([anew])],
    [run([anew])],
    [run([])],
    [run([]), run([resource])],
    [run([], [resource.address]), run([anew])],
    [run([], [resource.address])],
    [],
  ]);
}

function killed(dice: Chance): Pick<RunCase, "crash"> {
  return dice.is(0.15) ? { crash: Math.round(dice.scale(3, 60)) } : {};
}
