import type { Chance } from "../support/chance.ts";
import type { RunCase, Wrong } from "./case.ts";

/** An object or a snapshot, as far as a moment can hide it. */
interface Hidable {
  readonly id: string;
  readonly kind: string;
  readonly place: string;
  readonly bornAt: number;
}

/** The moments in which a service denies what is there. */
export interface Moments {
  /** Begins a moment, unless the last one ended too short a time ago to be told from the next. */
  begin(how: Wrong): void;
  /** Denies what is there by now, all of it or a part, until it is called with undefined. */
  blind(how: RunCase["blind"]): void;
  /** True while something is denied. */
  isWrong(): boolean;
  /** True while requests that name the object are answered with 404. */
  isDenied(thing: Hidable): boolean;
  /** True while lists lack the object. */
  isUnlisted(thing: Hidable): boolean;
}

interface Moment {
  readonly from: number;
  readonly until: number;
  readonly how: Wrong;
  /** Hides a part by these. */
  readonly salt: number;
}

/** The shortest time between two moments, in ms: twice the time of the longest proof. */
const apart = 90_000;

/**
 * Moments are shorter than `settle`. Lists alone are wrong up to `listLag` if a witness tells it: an old object of the place that is bound,
 * which `hasWitness` says.
 */
export function moments(
  now: () => number,
  dice: Chance,
  { listLag, stale: settle }: { readonly listLag: number; readonly stale: number },
  hasWitness: (place: Pick<Hidable, "kind" | "place">) => boolean,
): Moments {
  let moment: Moment | undefined;
  let blind: { readonly how: RunCase["blind"]; readonly from: number; readonly salt: number } | undefined;
  const isPart = (salt: number, id: string): boolean => {
    const sum = [...id].reduce((before, letter) => before + letter.charCodeAt(0), salt);
    return sum % 2 === 0;
  };
  const isBlind = ({ id, place, bornAt }: Hidable): boolean => {
    if (blind === undefined || bornAt > blind.from) return false;
    return blind.how === "startup"
      ? place.startsWith("startup/")
      : blind.how === "all" || isPart(blind.salt, id);
  };
  const current = (): Moment | undefined =>
    moment !== undefined && now() < moment.until ? moment : undefined;
  return {
    begin(how) {
      if (blind !== undefined || (moment !== undefined && now() < moment.until + apart)) return;
      const longest = how === "wrong-lists" ? 0.8 * listLag : 0.9 * settle;
      const from = now();
      moment = { from, until: from + (0.2 + 0.8 * dice.next()) * longest, how, salt: dice.between(0, 1) };
    },
    blind(how) {
      blind = how === undefined ? undefined : { how, from: now(), salt: dice.between(0, 1) };
    },
    isWrong: () => blind !== undefined || current() !== undefined,
    isDenied(thing) {
      const at = current();
      if (isBlind(thing)) return true;
      return at?.how === "wrong-all" || (at?.how === "wrong-some" && isPart(at.salt, thing.id));
    },
    isUnlisted(thing) {
      const at = current();
      if (at?.how !== "wrong-lists") return this.isDenied(thing);
      return isBlind(thing) || now() < at.from + 0.9 * settle || hasWitness(thing);
    },
  };
}
