/** @module What events do to a document, told the plain way: every event copies all of it. The reducer must come to the same. */
import { type Address, twinOf, withoutTwin } from "../../src/model/address.ts";
import { defined, type Json, own } from "../../src/model/json.ts";
import type { Bound, Converging, Intent, Migration, StateDocument } from "../../src/model/state.ts";

import type { Binding, CreatedObject, StateEvent } from "../../src/model/state-event.ts";

/** Adds one event to a document. An event that changes nothing gives the same document back. */
export function plainReduce(state: StateDocument, event: StateEvent): StateDocument {
  switch (event.type) {
    case "service-recorded":
      return {
        ...state,
        service: event.service,
        ...defined({ manifest: event.manifest }),
      };
    case "plan-applied":
      return markPlanApplied(
        Object.entries(event.shownCreatedAt ?? {}).reduce(
          (next, [address, time]) =>
            change(next, address, (bound) => ({ ...bound, shownCreatedAt: bound.shownCreatedAt ?? time })),
          state,
        ),
        event.fingerprint,
      );
    case "create-announced":
      return announce(state, event);
    case "creates-lost":
      return markLost(state, event);
    case "create-refused":
      return markRefused(state, event);
    case "create-acknowledged":
      return acknowledge(state, event);
    case "creates-resolved":
      return event.absent.reduce(withoutIntent, event.found.reduce(acknowledge, state));
    case "create-abandoned":
      return withoutIntent(state, event.address);
    case "bound":
      return bind(state, [[event.address, event.bound]]);
    case "bound-together":
      return bind(state, event.bindings);
    case "update-announced":
      return change(state, event.address, (bound) => ({
        ...bound,
        recorded: withoutPaths(bound.recorded, event.paths),
        converging: { operation: "update", since: event.at, record: {} },
      }));
    case "operation-accepted":
      return change(state, event.address, (bound) => ({ ...bound, converging: event.converging }));
    case "operation-settled":
      return end(
        learned(state, event.address, event.took),
        event.address,
        ({ record }) => ({ ...event.record, ...record }),
        event,
      );
    case "healed":
      return own(state.resources, event.address) === undefined
        ? state
        : change(state, event.address, (bound) => ({
            ...bound,
            seenRight: { ...bound.seenRight, ...each(event.paths, () => event.at) },
          }));
    case "another-seen":
      return own(state.resources, event.address)?.otherCreatedAt === undefined
        ? change(state, event.address, (bound) => ({ ...bound, otherCreatedAt: event.createdAt }))
        : state;
    case "operation-failed":
      return end(state, event.address, () => ({}));
    case "released":
      return release(learned(state, event.address, event.took), [event.address]);
    case "released-together":
      return release(state, event.addresses);
    case "moved":
      return move(state, event);
    case "migration":
      return withMigration(state, event.address, event.migration);
    case "switched": {
      const left = event.released.reduce(without<Bound>, state.resources);
      const released = { ...state, resources: left };
      const { outputs = state.outputs } = event;
      return withMigration({ ...bind(released, event.bindings), outputs }, event.address, event.migration);
    }
    case "outputs-recorded":
      return { ...state, outputs: event.outputs };
  }
}

function learned(state: StateDocument, address: Address, took: number | undefined): StateDocument {
  const bound = state.resources[address];
  if (took === undefined || bound?.converging === undefined) return state;
  const key = `${bound.kind}.${bound.converging.operation}`;
  const before = state.durations?.[key];
  const smoothed = before === undefined ? took : Math.round(before + 0.3 * (took - before));
  return { ...state, durations: { ...state.durations, [key]: smoothed } };
}

/** The newest plans that are remembered as applied. */
const rememberedPlans = 1000;

function markPlanApplied(state: StateDocument, fingerprint: string): StateDocument {
  if (state.appliedPlans.includes(fingerprint)) return state;
  return { ...state, appliedPlans: [...state.appliedPlans, fingerprint].slice(-rememberedPlans) };
}

function announce(
  state: StateDocument,
  { address, intent, listed, released }: Extract<StateEvent, { readonly type: "create-announced" }>,
): StateDocument {
  const rounds = listed === undefined ? state.rounds : { ...state.rounds, [intent.round]: listed };
  const announced = { ...state, rounds, intents: { ...state.intents, [address]: intent } };
  const gone = own(state.resources, address);
  if (gone === undefined) return announced;
  if (released) return release(announced, [address]);
  return { ...announced, resources: { ...state.resources, [address]: { ...gone, recorded: {} } } };
}

function markLost(
  state: StateDocument,
  { addresses, sentBefore }: Extract<StateEvent, { readonly type: "creates-lost" }>,
): StateDocument {
  const lost = addresses.filter((address) => own(state.intents, address) !== undefined);
  const entries = lost.map((address) => [address, { sentBefore, ...own(state.intents, address) }]);
  return lost.length === 0
    ? state
    : { ...state, intents: { ...state.intents, ...Object.fromEntries(entries) } };
}

function markRefused(
  state: StateDocument,
  { address, at, sentBefore }: Extract<StateEvent, { readonly type: "create-refused" }>,
): StateDocument {
  const intent = own(state.intents, address);
  if (intent === undefined) return state;
  return {
    ...state,
    intents: {
      ...state.intents,
      [address]: {
        ...intent,
        refused: true,
        ...(at && { refusedAt: at }),
        ...(sentBefore && { sentBefore }),
      },
    },
  };
}

/** The intent becomes a binding; without an intent nothing changes. */
function acknowledge(state: StateDocument, created: CreatedObject): StateDocument {
  const { address, id, createdAt, converging, unconfirmed = [] } = created;
  const intent = own(state.intents, address);
  const round = own(state.rounds, intent?.round ?? "");
  if (intent === undefined || round === undefined) return state;
  const { protect, onDelete, refs } = intent;
  const bound: Bound = {
    kind: round.kind,
    id,
    place: round.place,
    recorded: withoutPaths(intent.recorded, unconfirmed),
    protect,
    onDelete,
    refs,
    createdAt,
    converging,
  };
  return bind(state, [[address, bound]]);
}

/** Binds addresses in place of what was bound there; an intent of an address is closed by it. */
function bind(state: StateDocument, bindings: readonly Binding[]): StateDocument {
  const resources = { ...state.resources, ...Object.fromEntries(bindings) };
  return bindings.reduce((next, [address]) => withoutIntent(next, address), { ...state, resources });
}

function change(state: StateDocument, address: Address, next: (bound: Bound) => Bound): StateDocument {
  const bound = own(state.resources, address);
  return bound === undefined
    ? state
    : { ...state, resources: { ...state.resources, [address]: next(bound) } };
}

/** The operation that is waited for has ended: what it applied is recorded. */
function end(
  state: StateDocument,
  address: Address,
  applied: (converging: Converging) => Converging["record"],
  { at, shownCreatedAt, ineffective = [] }: Partial<Extract<StateEvent, { type: "operation-settled" }>> = {},
): StateDocument {
  const bound = own(state.resources, address);
  if (bound?.converging === undefined) return state;
  const { converging, ineffective: _ineffective, appliedAt, seenRight, ...rest } = bound;
  const record = applied(converging);
  const isWhole = at !== undefined && ["create", "update"].includes(converging.operation);
  const times = isWhole
    ? each(ineffective, (path) => own(seenRight ?? {}, path) ?? appliedAt ?? bound.createdAt)
    : { ...seenRight, ...(at === undefined ? {} : each(Object.keys(record), () => at)) };
  const last = isWhole ? at : appliedAt;
  return change(state, address, () => ({
    ...defined({ shownCreatedAt }),
    ...rest,
    recorded: { ...rest.recorded, ...record },
    ...defined({ appliedAt: last }),
    ...(Object.keys(times).length === 0 ? {} : { seenRight: times }),
    ...(ineffective.length === 0 ? {} : { ineffective }),
  }));
}

function each<T>(paths: readonly string[], value: (path: string) => T): { readonly [path: string]: T } {
  return Object.fromEntries(paths.map((path) => [path, value(path)]));
}

function release(state: StateDocument, addresses: readonly Address[]): StateDocument {
  const released = new Set(addresses.filter((address) => own(state.resources, address) !== undefined));
  if (released.size === 0) return state;
  const kept = Object.entries(state.resources).filter(([address]) => !released.has(address));
  return [...released].reduce(
    (next, address) => {
      const main = withoutTwin(address);
      const { cap, phase } = own(next.migrations ?? {}, main) ?? {};
      const isClosed = cap !== undefined || phase === "fence" || phase === "switch";
      return address !== main && isClosed ? next : withMigration(next, main, undefined);
    },
    { ...state, resources: Object.fromEntries(kept) },
  );
}

function withMigration(
  state: StateDocument,
  address: Address,
  migration: Migration | undefined,
): StateDocument {
  const known = own(state.migrations ?? {}, address);
  if (known === undefined && migration === undefined) return state;
  const others = without(state.migrations ?? {}, address);
  return { ...state, migrations: migration === undefined ? others : { ...others, [address]: migration } };
}

/** A round goes with the last of its intents. */
function withoutIntent(state: StateDocument, address: Address): StateDocument {
  const intent = own(state.intents, address);
  if (intent === undefined) return state;
  const intents = without(state.intents, address);
  const isOpen = Object.values(intents).some(({ round }) => round === intent.round);
  return { ...state, intents, rounds: isOpen ? state.rounds : without(state.rounds, intent.round) };
}

/** Renames an address and every reference to it; a taken address stays as it is. */
function move(
  state: StateDocument,
  { from, to, renamed = {} }: Extract<StateEvent, { readonly type: "moved" }>,
): StateDocument {
  const isTaken = own(state.resources, to) !== undefined || own(state.intents, to) !== undefined;
  const isKnown = own(state.resources, from) !== undefined || own(state.intents, from) !== undefined;
  if (isTaken || !isKnown) return state;
  const pairs = [
    [from, to],
    ...(["next", "former"] as const).map((twin) => [twinOf(from, twin), twinOf(to, twin)]),
  ].filter(([old = ""]) => own(state.resources, old) !== undefined || own(state.intents, old) !== undefined);
  const moved = <T extends Pick<Bound & Intent, "refs" | "recorded">>(entries: Entries<T>): Entries<T> =>
    pairs.reduce(
      (found, [old = "", now = ""]): Entries<T> =>
        Object.fromEntries(
          Object.entries(found).map(([address, entry]) => [
            address === old ? now : address,
            pointed(entry, old, now, own(renamed, address)),
          ]),
        ),
      entries,
    );
  const under = <T>(entries: Entries<T>): Entries<T> =>
    Object.fromEntries(Object.entries(entries).map(([at, entry]) => [at === from ? to : at, entry]));
  const migrations = Object.entries(under(state.migrations ?? {})).map(([at, { former, ...rest }]) => [
    at,
    former === undefined ? rest : { ...rest, former: under(former) },
  ]);
  return {
    ...state,
    resources: moved(state.resources),
    intents: moved(state.intents),
    ...(state.migrations === undefined ? {} : { migrations: Object.fromEntries(migrations) }),
  };
}

function pointed<T extends Pick<Bound & Intent, "refs" | "recorded">>(
  entry: T,
  from: Address,
  to: Address,
  renamed: { readonly [path: string]: Json } | undefined,
): T {
  const refs = entry.refs.includes(from) ? entry.refs.map((ref) => (ref === from ? to : ref)) : entry.refs;
  if (refs === entry.refs && renamed === undefined) return entry;
  return { ...entry, refs, recorded: { ...entry.recorded, ...renamed } };
}

type Entries<T> = { readonly [address: Address]: T };

function without<T>(entries: Entries<T>, address: Address): Entries<T> {
  return Object.fromEntries(Object.entries(entries).filter(([key]) => key !== address));
}

function withoutPaths(
  recorded: { readonly [path: string]: Json },
  paths: readonly string[],
): { readonly [path: string]: Json } {
  if (paths.length === 0) return recorded;
  return Object.fromEntries(Object.entries(recorded).filter(([path]) => !paths.includes(path)));
}
