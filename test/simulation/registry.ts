import type { Address } from "../../src/model/address.ts";
import { ServiceError, type ServiceFailure } from "../../src/model/errors.ts";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import type { Chance } from "../support/chance.ts";
import { bounds, type ServiceCase } from "./case.ts";
import { type Moments, moments } from "./moments.ts";
import { isLeaving, isThere, type Look, type Thing } from "./thing.ts";

/** How work that is taken on ends otherwise than well: badly, or not before calm. */
export type Ending = "fails" | "sticks" | undefined;

/** A snapshot of a database. Times in ms. */
export interface Snapshot {
  readonly id: string;
  readonly instanceId: string;
  readonly isAutomatic: boolean;
  readonly bornAt: number;
  readonly listedFrom: number;
  /** When it ends, and how. */
  until: number;
  readonly ends: "COMPLETE" | "FAILED";
}

/** The objects of a service, how they are seen, and how work upon them goes on. */
export interface Registry {
  readonly things: readonly Thing[];
  readonly snapshots: readonly Snapshot[];
  /** Begins a snapshot, which ends well, badly, or not before calm. */
  snapshot(thing: Thing, isAutomatic: boolean, ending: Ending): void;
  readonly options: ServiceCase;
  readonly dice: Chance;
  readonly moments: Moments;
  now(): number;
  bear(born: Birth): Thing;
  /** The object that a request names. Throws not-found where there is none, or where it is not known yet. */
  find(kind: string, id: string, operation: string): Thing;
  /** The same without the veil; gone ones too. */
  at(id: string): Thing | undefined;
  /** The object goes, and its id is given to one of somebody else that looks the same. */
  reuse(thing: Thing): void;
  /** Somebody else makes what looks like the newest database. */
  twin(): void;
  listed(kind: string, place: string): readonly string[];
  /** What describe shows of it by now. */
  shown(thing: Thing): Look;
  begin(thing: Thing, operation: string, through: string, ending: Ending, end: Partial<Look>): void;
  leave(thing: Thing, ending: Ending): void;
  /** Ends what has lasted long enough. */
  advance(): void;
  /** What was stuck goes on. */
  calm(): void;
}

/** An object that is about to be. */
export interface Birth {
  readonly id: string;
  readonly kind: string;
  readonly place: string;
  readonly look: Omit<Look, "modifiedAt">;
  readonly tag?: number;
  readonly madeFor?: Address;
  readonly protects?: ReadonlySet<boolean>;
  /** True for one that is known at once. */
  readonly seen?: boolean;
  /** How long ago it was made, in ms. */
  readonly age?: number;
}

/** An empty registry. */
export function registry(
  options: ServiceCase,
  now: () => number,
  dice: Chance,
  hasWitness: (place: Pick<Thing, "kind" | "place">) => boolean = () => false,
): Registry {
  const wrong = moments(now, dice, bounds, hasWitness);
  const things: Thing[] = [];
  const snapshots: Snapshot[] = [];
  const byId = new Map<string, Thing>();
  const lag = (longest: number): number => (longest === 0 ? 0 : dice.next() * longest);
  const isHidden = (until: number): boolean => now() < until && !(options.flicker && dice.is(0.5));
  /** What was shown once is shown from then on; only lists come and go. */
  const isUnknown = (thing: Thing): boolean => now() < thing.describedFrom;
  const advance = (thing: Thing): void => {
    const { work } = thing;
    if (work === undefined || now() < work.until) return;
    delete thing.work;
    work.end();
  };
  const vanish = (thing: Thing): void => {
    thing.goneAt = now();
    for (const other of things)
      if (other.kind === "users" && other.place === thing.id && isThere(other)) vanish(other);
  };
  const begin = (thing: Thing, operation: string, through: string, ending: Ending, end: () => void): void => {
    if (options.stale > 0) thing.old = { until: now() + lag(options.stale), look: thing.look };
    thing.look = {
      ...thing.look,
      status: ending === "sticks" || dice.is(0.05) ? "REBALANCING" : through,
      modifiedAt: now(),
    };
    const until = ending === "sticks" ? Number.POSITIVE_INFINITY : now() + dice.scale(50, options.work);
    const fail = (): void => {
      thing.look = { ...thing.look, status: "FAILED", modifiedAt: now() };
    };
    thing.work = { operation, through, until, end: ending === "fails" ? fail : end };
  };
  const bear = ({ look, seen = false, age = 0, protects = new Set(), ...rest }: Birth): Thing => {
    const wait = seen ? 0 : lag(options.describeLag);
    const thing: Thing = {
      ...rest,
      bornAt: now() - age,
      describedFrom: now() + wait,
      listedFrom: now() + (seen ? 0 : lag(options.listLag)),
      ours: rest.madeFor !== undefined,
      protects,
      look: { ...look, modifiedAt: now() },
    };
    things.push(thing);
    byId.set(thing.id, thing);
    return thing;
  };
  return {
    things,
    snapshots,
    snapshot(thing, isAutomatic, ending) {
      snapshots.push({
        id: `snapshot-${snapshots.length + 1}`,
        instanceId: thing.id,
        isAutomatic,
        bornAt: now(),
        listedFrom: now() + lag(options.listLag),
        until: ending === "sticks" ? Number.POSITIVE_INFINITY : now() + dice.scale(50, options.work),
        ends: ending === "fails" ? "FAILED" : "COMPLETE",
      });
    },
    options,
    dice,
    moments: wrong,
    now,
    bear,
    find(kind, id, operation) {
      const thing = byId.get(id);
      if (thing !== undefined) advance(thing);
      if (
        thing?.kind !== kind ||
        !isThere(thing) ||
        isUnknown(thing) ||
        (!isLeaving(thing) && wrong.isDenied(thing))
      )
        throw refused("not-found", operation, 404);
      return thing;
    },
    at: (id) => byId.get(id),
    reuse(thing) {
      vanish(thing);
      const { id, kind, place, look } = thing;
      bear({ id, kind, place, look, seen: true });
    },
    twin() {
      const newest = things.at(-1);
      // One that is listed before the lost one is found alone, and then nothing speaks against it.
      if (newest?.kind !== "instances" || options.flicker) return;
      const { place, look, describedFrom, listedFrom } = newest;
      const twin = bear({
        id: `${newest.id}-twin`,
        kind: "instances",
        place,
        look: { ...look, status: "RUNNING" },
      });
      Object.assign(twin, { describedFrom, listedFrom });
    },
    listed(kind, place) {
      const shown = things.filter((thing) => {
        if (thing.kind !== kind || thing.place !== place || wrong.isUnlisted(thing)) return false;
        advance(thing);
        if (thing.goneAt === undefined) return !isHidden(thing.listedFrom);
        // The list of users is all that is known of a user: what is gone from it is gone.
        return (
          kind !== "users" && now() < thing.goneAt + options.linger && !(options.flicker && dice.is(0.5))
        );
      });
      // The newest first.
      return [...new Set(shown.map((thing) => thing.id))].toReversed();
    },
    shown: (thing) => (thing.old !== undefined && now() < thing.old.until ? thing.old.look : thing.look),
    begin: (thing, operation, through, ending, end) =>
      begin(thing, operation, through, ending, () => {
        thing.look = { ...thing.look, ...end, modifiedAt: now() };
      }),
    leave: (thing, ending) => begin(thing, "delete", "DELETING", ending, () => vanish(thing)),
    advance: () => things.forEach(advance),
    calm() {
      for (const thing of things)
        if (thing.work?.until === Number.POSITIVE_INFINITY) thing.work.until = now() + 1000;
      for (const snapshot of snapshots)
        if (snapshot.until === Number.POSITIVE_INFINITY) snapshot.until = now() + 1000;
    },
  };
}

/** A refusal: the request surely did nothing. */
export function refused(failure: ServiceFailure, operation: string, status?: number): ServiceError {
  return new ServiceError(
    failure,
    operation,
    `${operation}: refused (${failure})`,
    status === undefined ? {} : { status },
  );
}

/** An object as JSON has it, or an empty one. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
