import { builtIn } from "../../src/hosting/profile/built-in.generated.js";
import type { Plan } from "../../src/model/plan.ts";
import type { Profile } from "../../src/model/service.ts";
import type { StateDocument } from "../../src/model/state.ts";
import { type Chance, chance } from "../support/chance.ts";
import { bounds, type Case, type ResourceCase } from "./case.ts";
import { type Gate, gate } from "./gate.ts";
import type { Proc } from "./proc.ts";
import { type Registry, registry } from "./registry.ts";
import { type Life, type Schedule, schedule } from "./schedule.ts";
import { type Shared, sharedOf } from "./shared.ts";
import { isLeaving, isThere, type Thing } from "./thing.ts";

/** Everything outside the program: time, chance, the service, the stored state, and who holds its lock. */
export interface World {
  readonly schedule: Schedule;
  readonly dice: Chance;
  readonly registry: Registry;
  readonly profile: Profile;
  readonly latency: number;
  /** Where the engine talks to the service through the real client. */
  readonly gate: Gate | undefined;
  /** The service never dies. */
  readonly service: Life;
  /** The newest version that is durable. */
  stored: StateDocument | undefined;
  /** What the files of the state hold. */
  disk: Disk;
  holder: Life | undefined;
  saved: SavedCase | undefined;
  /** The shared store; undefined where the state is in a file. */
  readonly shared: Shared | undefined;
  /** Told of everything that happens, one line each; for people. */
  readonly tell: (line: string) => void;
}

/** The texts of the state's files. */
export interface Disk {
  readonly document?: string;
  readonly log?: string;
}

/** A plan that was kept, what it was made from, and what its maker saw. */
export interface SavedCase {
  readonly plan: Plan;
  readonly resources: readonly ResourceCase[];
  readonly seen: Proc["seen"];
  /** Who carries it out. */
  usedBy?: Proc;
}

const start = Date.UTC(2026, 0, 1);

/** The world of a case, before anything has happened. */
export function worldOf(
  { seed, service, store }: Case,
  tell: (line: string) => void = () => undefined,
): World {
  const dice = chance(seed);
  const time = schedule(start, () => dice.next());
  const world: World = {
    schedule: time,
    dice,
    registry: registry(
      service,
      () => time.now(),
      dice,
      (place) => hasWitness(place, world),
    ),
    profile: service.networks ? profiles.networked : profiles.plain,
    latency: service.latency,
    gate: service.wire === undefined ? undefined : gate(service.wire, () => time.now(), dice),
    service: { dead: false },
    stored: undefined,
    disk: {},
    holder: undefined,
    saved: undefined,
    shared: store && sharedOf(store, time),
    tell: (line) => tell(`${((time.now() - start) / 1000).toFixed(3).padStart(9)} ${line}`),
  };
  return world;
}

/** True if the state binds an object of the place that is old enough to be shown by describe, and to be missed in lists. */
function hasWitness({ kind, place }: Pick<Thing, "kind" | "place">, { registry, stored }: World): boolean {
  const bound = Object.values(stored?.resources ?? {});
  return bound.some(({ id, converging, createdAt }) => {
    const thing = registry.at(id);
    if (thing?.kind !== kind || thing.place !== place || kind === "users" || !isThere(thing)) return false;
    const isOld = registry.now() - Math.max(thing.bornAt, Date.parse(createdAt)) > 2 * bounds.listLag;
    return isOld && !isLeaving(thing) && converging?.operation !== "delete";
  });
}

const profiles = readProfiles();

/** The default profile, and one that can do with networks what the vendor's can. */
function readProfiles(): { readonly plain: Profile; readonly networked: Profile } {
  const [plain, vendor] = [builtIn["default"]?.(), builtIn["falkordb-cloud"]?.()];
  if (plain === undefined || vendor === undefined) throw new Error("a built-in profile is missing");
  const added = Object.entries(vendor.operations).filter(([name]) =>
    /^network\.(create|list|delete)$/.test(name),
  );
  return {
    plain,
    networked: { ...plain, operations: { ...plain.operations, ...Object.fromEntries(added) } },
  };
}
