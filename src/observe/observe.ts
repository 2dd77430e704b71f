/** @module Observes every bound object, every object to adopt, and the rest of the same places. */
import type { Address } from "../model/address.ts";
import { isSettleOver } from "../model/consistency.ts";
import type { Desired } from "../model/desired.ts";
import { GraphformError, isServiceError } from "../model/errors.ts";
import { defined, type JsonObject } from "../model/json.ts";
import { naming, type OutputTable } from "../model/manifest.ts";
import {
  type Doubt,
  type KnownObject,
  type Live,
  type Observed,
  placeKey,
  type Ref,
  type Unmanaged,
} from "../model/observed.ts";
import type { NotProbed } from "../model/probe.ts";
import { placeOf } from "../model/templates.ts";
import { overlay } from "../model/values.ts";
import { askObjects, reasonsNotProbed } from "../polling/ask-objects.ts";
import {
  assertSomethingRead,
  idsIn,
  type Listed,
  type ListedPlace,
  type ObserveContext,
  partialIn,
  placeLister,
  type Unread,
  unreadIn,
} from "./observe-context.ts";
import { isDoubt, type Missing, parentsOf, readBound, readUnbound } from "./read-bound.ts";
import { describeUnmanaged, listAgain, listElsewhere } from "./unmanaged.ts";

/** Observed objects by address, and the objects that belong to no address. A bound address that is in none of the maps is gone. */
export interface Observation {
  readonly observed: ReadonlyMap<Address, Observed>;
  /** Bound addresses whose objects may be gone, or are others by now. */
  readonly doubts: ReadonlyMap<Address, Doubt>;
  /** Declared objects that could not be asked themselves, by address. */
  readonly notProbed: readonly NotProbed[];
  /** Bound objects and lists that could not be read, by address, or by kind for a list; empty if the first failure ends the observation. */
  readonly unread: readonly Unread[];
  /** Lists that may not be all, in words. */
  readonly partialLists: readonly string[];
  readonly unmanaged: readonly Unmanaged[];
  /** The ids in the lists that could be read, by kind and place. */
  readonly listed: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Observes bound objects, objects to adopt, and their places. One that describe does not show is looked for until it is shown,
 * proved absent, or in doubt; within its creation grace period it counts as there.
 */
export async function observe(desired: readonly Desired[], context: ObserveContext): Promise<Observation> {
  const reading = await readKnown(desired, context);
  const { lives, missing, places, lists, short } = reading;
  const doubts = new Map(
    [...missing].flatMap(([{ address }, verdict]): [Address, Doubt][] =>
      isDoubt(verdict) ? [[address, verdict]] : [],
    ),
  );
  const { named, withNames } = inWords(reading, doubts, context);
  const others = unboundIn(reading, [...named.values()], context);
  const otherLives = await describeUnmanaged(others, desired, lives, context);
  const declared = new Map(desired.map((entry) => [entry.address, entry]));
  // Another object under a bound id is not among them: it is not asked with our passwords.
  const answers = await askObjects(declared, [...lives, ...otherLives], context);
  return {
    observed: new Map(
      [...named].map(([address, entry]): [Address, Observed] => [
        address,
        { ...entry, ...defined({ probed: answers.get(address)?.probed }) },
      ]),
    ),
    doubts,
    notProbed: reasonsNotProbed(answers, declared, context),
    unread: unreadIn(places, lists, context),
    partialLists: partialIn(places, short, context),
    unmanaged: others.map((entry) => {
      const live = otherLives.get(entry);
      const { schema } = context.kinds.named(entry.kind);
      return { kind: entry.kind, ...entry.ref, ...defined({ live: live && withNames(live, schema) }) };
    }),
    listed: new Map(
      places.flatMap((at, index): [string, ReadonlySet<string>][] =>
        isServiceError(lists[index]) ? [] : [[placeKey(at), new Set(idsIn(lists[index]))]],
      ),
    ),
  };
}

/** The answers of the service, with its ids. */
interface Reading {
  /** Bound objects and those to adopt, with the objects that were shown, and the verdicts on bound ones that were not. */
  readonly known: readonly KnownObject[];
  readonly lives: ReadonlyMap<KnownObject, Live>;
  readonly missing: ReadonlyMap<KnownObject, Missing>;
  /** The places, the list of each, and those whose lists stay short. */
  readonly places: readonly ListedPlace[];
  readonly lists: readonly Listed[];
  readonly short: readonly ListedPlace[];
}

/** Reads bound objects, those to adopt, and the lists of all places. Throws `import-not-found`. */
async function readKnown(desired: readonly Desired[], context: ObserveContext): Promise<Reading> {
  const bound = boundObjects(context);
  const list = placeLister(context);
  const from = context.clock.now();
  const roots = bound.filter((entry) => parentsOf(entry, context).length === 0);
  const [{ lives: boundLives, missing, unreachable }] = await Promise.all([
    readBound(bound, context),
    // Lists wait for no describe, unless their place is inside of an object.
    ...placesOf(desired, roots, new Map(), context).map(list),
  ]);
  const reached = new Map([...boundLives].map(([{ address }, { outputs }]) => [address, outputs]));
  const reachable = bound.filter((entry) => !unreachable.has(entry));
  const outer = adoptions(desired, reached, context);
  const early = placesOf(desired, [...reachable, ...outer], reached, context);
  const [first] = await Promise.all([readUnbound(outer, context), ...early.map(list)]);
  for (const [{ address }, { outputs }] of first.lives) reached.set(address, outputs);
  // Inside of one that is adopted itself.
  const inner = adoptions(desired, reached, context, new Set(outer.map(({ address }) => address)));
  const adopted = [...outer, ...inner];
  const known = [...bound, ...adopted];
  const places = placesOf(desired, [...reachable, ...adopted], reached, context);
  const [second, ...listed] = await Promise.all([readUnbound(inner, context), ...places.map(list)]);
  const { lists, short } = await listAgain(places, listed, desired, { lives: boundLives, from }, context);
  assertSomethingRead(known, context);
  const lives = new Map([...boundLives, ...first.lives, ...second.lives]);
  for (const entry of adopted)
    if (!lives.has(entry) && context.unread?.has(entry) !== true)
      throw notFound(entry, first.missing.get(entry) ?? second.missing.get(entry));
  const others = context.everywhere ? await listElsewhere(lives.keys(), places, list, context) : [];
  return {
    ...{ known, lives, missing },
    places: [...places, ...others.map(({ at }) => at)],
    lists: [...lists, ...others.map(({ ids = [] }) => ids)],
    short: [...short, ...others.flatMap(({ at, ids }) => (ids === undefined ? [at] : []))],
  };
}

/** The known objects that are there, in the manifest's words, each laid over what was recorded; `withNames` puts others into these words. */
function inWords(
  { known, lives, missing }: Reading,
  doubts: ReadonlyMap<Address, Doubt>,
  context: ObserveContext,
): { readonly named: ReadonlyMap<Address, Observed>; readonly withNames: ReturnType<typeof naming> } {
  const found = new Map(
    known.flatMap((entry): [KnownObject, Live][] => {
      const live = missing.get(entry)?.is === "hidden" ? hidden(entry) : lives.get(entry);
      return live === undefined ? [] : [[entry, withOperation(live, entry, context)]];
    }),
  );
  const outputs = new Map([
    // An object that could not be read, or is in doubt, is still the one that others name by its id.
    ...known
      .filter((entry) => context.unread?.has(entry) || doubts.has(entry.address))
      .map(({ address, ref }): [Address, JsonObject] => [address, { id: ref.id }]),
    ...[...found].map(([entry, live]): [Address, JsonObject] => [entry.address, live.outputs]),
  ]);
  const withNames = naming(outputs);
  const named = new Map(
    [...found].map(([{ address, kind, ref }, live]): [Address, Observed] => {
      const shown = withNames(live, context.kinds.named(kind).schema);
      const spec = overlay(shown.spec, context.state.resources[address], live.phase.is, live.whole);
      return [address, { ...shown, spec, address, kind, place: ref.place }];
    }),
  );
  return { named, withNames };
}

/** The listed objects that belong to no address, each once: several places may share one list. */
function unboundIn(
  { known, places, lists }: Reading,
  named: readonly Observed[],
  context: ObserveContext,
): readonly KnownObject[] {
  const ours = new Set([
    ...known.map(({ kind, ref }) => `${kind} ${idOf(kind, ref, context)}`),
    ...acknowledgedIn(context),
    ...implicitChildrenOf([...named, ...unreadObjects(context)], context),
  ]);
  const others = places.flatMap(({ kind, place }, at) =>
    idsIn(lists[at])
      .filter((id) => !ours.has(`${kind} ${id}`))
      .map((id): KnownObject => ({ address: "", kind, ref: { id, place } })),
  );
  return [...new Map(others.map((entry) => [`${entry.kind} ${entry.ref.id}`, entry])).values()];
}

/** Kind and id of the objects that open creates were answered with: apply looks for them. */
function acknowledgedIn({ state }: ObserveContext): readonly string[] {
  return Object.values(state.intents).flatMap(({ acknowledged, round }) =>
    acknowledged === undefined ? [] : [`${state.rounds[round]?.kind ?? ""} ${acknowledged}`],
  );
}

/** Kind and id of the objects that other objects have made by themselves: they are not declared. */
function implicitChildrenOf(
  parents: readonly Pick<Observed, "kind" | "id" | "spec">[],
  context: ObserveContext,
): readonly string[] {
  return parents.flatMap(({ kind, id, spec }) =>
    context.kinds
      .named(kind)
      .implicitChildren(id, spec)
      .map((child) => `${child.kind} ${child.id}`),
  );
}

/** Bound objects that could not be read, as they were last applied. */
function unreadObjects(context: ObserveContext): readonly Pick<Observed, "kind" | "id" | "spec">[] {
  return [...(context.unread?.keys() ?? [])].map(({ address, kind, ref }) => {
    const recorded = Object.entries(context.state.resources[address]?.recorded ?? {});
    const spec = recorded.map(([path, value]) => [path, { value, source: "recorded" } as const] as const);
    return { kind, id: ref.id, spec: Object.fromEntries(spec) };
  });
}

function boundObjects(context: ObserveContext): readonly KnownObject[] {
  return Object.entries(context.state.resources).map(([address, bound]) => ({
    address,
    kind: bound.kind,
    ref: { id: bound.id, place: bound.place },
  }));
}

function adoptions(
  desired: readonly Desired[],
  reached: OutputTable,
  context: ObserveContext,
  done: ReadonlySet<Address> = new Set(),
): readonly KnownObject[] {
  return desired.flatMap((entry): readonly KnownObject[] => {
    const { address, kind, importId } = entry;
    if (importId === undefined || context.state.resources[address] || done.has(address)) return [];
    const place = placeOf(context.kinds.named(kind), entry.spec, (at) => reached.get(at));
    return place ? [{ address, kind, ref: { id: idOf(kind, { id: importId, place }, context), place } }] : [];
  });
}

/** The id that lists show of an object. */
function idOf(kind: string, { id, place }: Ref, context: ObserveContext): string {
  return context.kinds.named(kind).idAt(place, id);
}

/** The places of all declared and all bound objects, each once. */
function placesOf(
  desired: readonly Desired[],
  known: readonly KnownObject[],
  reached: OutputTable,
  context: ObserveContext,
): readonly ListedPlace[] {
  const declared = desired.flatMap((entry) => {
    const place = placeOf(context.kinds.named(entry.kind), entry.spec, (at) => reached.get(at));
    return place === undefined ? [] : [{ kind: entry.kind, place }];
  });
  const all = [...declared, ...known.map((entry) => ({ kind: entry.kind, place: entry.ref.place }))];
  return [...new Map(all.map((entry) => [placeKey(entry), entry])).values()];
}

/** An object in its creation grace period that the service does not show yet. */
function hidden({ ref: { id } }: KnownObject): Live {
  const phase = { is: "pending", detail: "not shown yet", isHidden: true } as const;
  return { id, spec: {}, outputs: { id }, phase };
}

/** An object with an accepted operation. The service may keep showing the previous status: it counts as in progress until `settle` has passed. */
function withOperation(live: Live, entry: KnownObject, context: ObserveContext): Live {
  const { operation = "create", since = "" } = context.state.resources[entry.address]?.converging ?? {};
  const isOver = isSettleOver(Date.parse(since), context.clock.now(), context.profile.timing);
  if (operation === "create" || isOver || live.phase.is === "waiting-for-person") return live;
  return { ...live, phase: { is: "pending", detail: live.phase.detail || "in progress" } };
}

function notFound({ address, ref }: KnownObject, missing: Missing | undefined): GraphformError {
  const doubt = missing !== undefined && isDoubt(missing) ? `, or that is in doubt: ${missing.because}` : "";
  return new GraphformError("import-not-found", `there is no ${ref.id} to bind ${address} to${doubt}`, {
    hint: "check the id, and that tier, component and subscription are those of the object",
  });
}
