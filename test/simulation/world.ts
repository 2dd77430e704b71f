import { builtIn } from "../../src/hosting/built-in.generated.js";
import type { Profile } from "../../src/model/profile.ts";
import type { StateDocument } from "../../src/model/state.ts";
import type { Case } from "./case.ts";
import { type Chance, chance } from "./chance.ts";
import { type Registry, registry } from "./registry.ts";
import { type Life, type Schedule, schedule } from "./schedule.ts";

/** Everything outside the program: time, chance, the service, the stored state, and who holds its lock. */
export interface World {
  readonly schedule: Schedule;
  readonly dice: Chance;
  readonly registry: Registry;
  readonly profile: Profile;
  readonly latency: number;
  /** The service never dies. */
  readonly service: Life;
  stored: StateDocument | undefined;
  holder: Life | undefined;
  /** Told of everything that happens, one line each; for people. */
  readonly tell: (line: string) => void;
}

const start = Date.UTC(2026, 0, 1);

/** The world of a case, before anything has happened. */
export function worldOf({ seed, service }: Case, tell: (line: string) => void = () => undefined): World {
  const dice = chance(seed);
  const time = schedule(start, () => dice.next());
  return {
    schedule: time,
    dice,
    registry: registry(service, () => time.now(), dice),
    profile: service.networks ? profiles.networked : profiles.plain,
    latency: service.latency,
    service: { dead: false },
    stored: undefined,
    holder: undefined,
    tell: (line) => tell(`${((time.now() - start) / 1000).toFixed(3).padStart(9)} ${line}`),
  };
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
