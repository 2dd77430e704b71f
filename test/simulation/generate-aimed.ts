import { type Chance, chance } from "../support/chance.ts";
import { bounds, type Case, type ResourceCase, type RunCase } from "./case.ts";
import { account, database, enterprise, network, user } from "./case-parts.ts";
import { fleet } from "./generate-fleet.ts";
import { outdated } from "./generate-outdated.ts";

/** Some cases aim at one thing that cases of chance seldom come to. */
export function aimed(seed: number, given: Case): Case {
  const dice = chance(seed ^ 0x510e527f);
  const way = dice.next();
  if (way < 0.05) return fleet(given, dice);
  if (way < 0.09) return outdated(given, dice);
  if (way < 0.11) return household(given, dice);
  if (way < 0.13) return oldBackup(given, dice);
  return way < 0.15 ? reused(given, dice) : given;
}

const kept: ResourceCase = database(9, {}, { address: "instances.kept", protect: false });

/** What holds others, and what lives in it: made together, and left out together or in part, or destroyed. */
function household(given: Case, dice: Chance): Case {
  const tenant = (tag: number, address: string, over: ResourceCase["spec"]): ResourceCase => ({
    ...database(tag, {}, { address, protect: false }),
    spec: { ...enterprise(tag), ...over },
  });
  const home = { ...network("networks.a", 1), protect: false };
  const inNetwork = { network: "a", networkType: "INTERNAL" };
  const all = [
    home,
    tenant(2, "instances.a", inNetwork),
    ...(dice.is(0.4) ? [tenant(3, "instances.b", inNetwork)] : []),
    ...(dice.is(0.3) ? [account(4, { protect: false })] : []),
  ];
  const left = dice.is(0.7) ? [] : all.filter(({ address }) => address !== home.address && dice.is(0.5));
  const alone = left.map(({ spec: { network: _, networkType: __, ...spec }, ...rest }) => ({
    ...rest,
    spec,
  }));
  const first: RunCase = { does: "apply", resources: [kept, ...all], ...killed(dice) };
  const last: RunCase = dice.is(0.2)
    ? { does: "destroy", resources: [kept, ...all], ...killed(dice) }
    : { does: "apply", resources: [kept, ...alone], allowDestroy: ["instances.a"], ...killed(dice) };
  return { ...given, service: { ...given.service, networks: true }, runs: [first, { ...last, later: 1000 }] };
}

/** A database is deleted outside, and its id is given to another one before the second run: in its middle no look could tell. */
function reused(given: Case, dice: Chance): Case {
  const made = database(1, {}, { protect: false, onReplace: "recreate" });
  const users = dice.is(0.5) ? [user(2, "users.a")] : [];
  const home = users.length > 0 ? { ...made, spec: enterprise(1) } : made;
  const first: RunCase = { does: "apply", resources: [kept, home, ...(dice.is(0.5) ? users : [])] };
  const changed: ResourceCase = { ...home, spec: { ...home.spec, power: "stopped" } };
  const later = 2 * bounds.listLag;
  const others: RunCase["others"] = [{ at: 0, does: "reuse", pick: dice.between(0, 1) }];
  const second = dice.of<readonly ResourceCase[]>([
    [kept],
    [kept, changed, ...users],
    [kept, home, ...users],
  ]);
  return { ...given, runs: [first, { does: "apply", resources: second, later, others }] };
}

/** A database is to be backed up and deleted: there is an older backup of somebody's, and the new one comes to nothing. */
function oldBackup(given: Case, dice: Chance): Case {
  const going = database(1, {}, { protect: false, onDelete: "backup" });
  // The first one is there from the beginning, and nobody's.
  const early = { at: 0, does: "backup" as const, pick: dice.between(1, 2) };
  const second: RunCase = {
    does: "apply",
    resources: [kept],
    later: Math.round(dice.scale(20_000, 200_000)),
    others: [early],
    ...(dice.is(0.7) ? { faults: [{ on: "verb", nth: 1, effect: dice.is(0.8) ? "fails" : "sticks" }] } : {}),
    ...killed(dice),
  };
  return { ...given, runs: [{ does: "apply", resources: [kept, going] }, second] };
}

function killed(dice: Chance): Pick<RunCase, "crash"> {
  return dice.is(0.15) ? { crash: Math.round(dice.scale(3, 80)) } : {};
}
