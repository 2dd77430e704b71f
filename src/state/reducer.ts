/** @module Applies events to the state: the only place that defines the effect of an event. */
import { type Address, twinKinds, twinOf, withoutTwin } from "../model/address.ts";
import { defined, type Json, mapped, own } from "../model/json.ts";
import { isClosed } from "../model/migration.ts";
import type { Bound, Converging, Intent, Migration, StateDocument } from "../model/state.ts";
import type { CreatedObject, StateEvent } from "../model/state-event.ts";
import { withDuration } from "../model/time-limit.ts";
import { type IndexedTable, type LiveDocument, liveDocument } from "./live-document.ts";
import type { EventVersion } from "./store.ts";

/** A copy of a document with one more event; the same document if that changes nothing. */
export function reduce(state: StateDocument, event: StateEvent): StateDocument {
  const { type, ...owner } = event;
  if (type === "service-recorded") return { ...state, ...owner };
  const live = liveDocument(state);
  return applyEvent(live, event) ? live.view : state;
}

/** Brings a document to the version that an event makes of it, in place. False if the event does not fit it. */
export function appendTo(live: LiveDocument, { serial, savedAt, event }: EventVersion): boolean {
  if (!applyEvent(live, event)) return false;
  live.setHead({ serial, savedAt });
  return true;
}

/** Adds one event to a document in place. False if it changes nothing. */
export function applyEvent(live: LiveDocument, event: StateEvent): boolean {
  switch (event.type) {
    case "service-recorded":
      live.setHead({ service: event.service, ...(event.manifest && { manifest: event.manifest }) });
      return true;
    case "plan-applied":
      for (const [address, time] of Object.entries(event.shownCreatedAt ?? {}))
        change(live.resources, address, (bound) => withShownTime(bound, time));
      return markPlanApplied(live, event.fingerprint);
    case "create-announced":
      return announce(live, event);
    case "create-refused": {
      const { address, at: refusedAt, sentBefore } = event;
      const refusal = { refused: true, ...defined({ refusedAt, sentBefore }) } as const;
      return change(live.intents, address, (intent) => ({ ...intent, ...refusal }));
    }
    case "creates-lost": {
      // The first time stays: what is made later belongs to none of them.
      const first = (intent: Intent): Intent => ({ sentBefore: event.sentBefore, ...intent });
      return event.addresses.map((address) => change(live.intents, address, first)).includes(true);
    }
    case "create-acknowledged":
      return acknowledge(live, event);
    case "creates-resolved":
      return resolve(live, event);
    case "create-abandoned":
      return closeIntent(live, event.address);
    case "bound":
      bind(live, event.address, event.bound);
      return true;
    case "bound-together":
      for (const [address, bound] of event.bindings) bind(live, address, bound);
      return true;
    case "update-announced":
      return change(live.resources, event.address, (bound) => ({
        ...bound,
        recorded: withoutPaths(bound.recorded, event.paths),
        converging: { operation: "update", since: event.at, record: {} },
      }));
    case "operation-accepted":
      return change(live.resources, event.address, (bound) => ({ ...bound, converging: event.converging }));
    case "operation-settled":
      learn(live, event.address, event.took);
      return end(live, event.address, ({ record }) => ({ ...event.record, ...record }), event);
    case "healed":
      return change(live.resources, event.address, (bound) => withSeenRight(bound, event.paths, event.at));
    case "another-seen":
      if (live.resources.get(event.address)?.otherCreatedAt !== undefined) return false;
      return change(live.resources, event.address, (bound) => ({
        ...bound,
        otherCreatedAt: event.createdAt,
      }));
    case "operation-failed":
      return end(live, event.address, () => ({}));
    case "released":
      learn(live, event.address, event.took);
      return release(live, event.address);
    case "released-together":
      return event.addresses.map((address) => release(live, address)).includes(true);
    case "moved":
      return moveAddress(live, event);
    case "migration":
      return live.setMigration(event.address, event.migration);
    case "switched":
      for (const address of event.released) change(live.resources, address, () => undefined);
      for (const [address, bound] of event.bindings) bind(live, address, bound);
      if (event.outputs !== undefined) live.setHead({ outputs: event.outputs });
      return live.setMigration(event.address, event.migration);
    case "outputs-recorded":
      live.setHead({ outputs: event.outputs });
      return true;
  }
}

/** The newest plans that are remembered as applied. */
const rememberedPlans = 1000;

function markPlanApplied({ view, setHead }: LiveDocument, fingerprint: string): boolean {
  if (view.appliedPlans.includes(fingerprint)) return false;
  setHead({ appliedPlans: [...view.appliedPlans, fingerprint].slice(-rememberedPlans) });
  return true;
}

/** An object that is created again under an old id has none of the old values. */
function announce(
  live: LiveDocument,
  { address, intent, listed, released }: Extract<StateEvent, { readonly type: "create-announced" }>,
): true {
  if (listed !== undefined) live.rounds[intent.round] = listed;
  live.intents.set(address, intent);
  if (released) release(live, address);
  const gone = live.resources.get(address);
  if (gone !== undefined) live.resources.set(address, { ...gone, recorded: {} });
  return true;
}

/** The intent becomes a binding; without an intent nothing changes. */
function acknowledge(live: LiveDocument, created: CreatedObject): boolean {
  const { address, id, createdAt, converging, unconfirmed = [] } = created;
  const intent = live.intents.get(address);
  const round = live.rounds[intent?.round ?? ""];
  if (intent === undefined || round === undefined) return false;
  const { protect, onDelete, refs } = intent;
  bind(live, address, {
    kind: round.kind,
    id,
    place: round.place,
    recorded: withoutPaths(intent.recorded, unconfirmed),
    ...{ protect, onDelete, refs, createdAt, converging },
  });
  return true;
}

function resolve(
  live: LiveDocument,
  { found, absent }: Extract<StateEvent, { readonly type: "creates-resolved" }>,
): boolean {
  const changes = [
    ...found.map((created) => acknowledge(live, created)),
    ...absent.map((address) => closeIntent(live, address)),
  ];
  return changes.includes(true);
}

/** Binds an address and closes its intent. */
function bind(live: LiveDocument, address: Address, bound: Bound): void {
  live.resources.set(address, bound);
  closeIntent(live, address);
}

/** Changes an entry, or removes it if `next` gives nothing. False if there is none. */
function change<T>(
  table: Pick<IndexedTable<T, never>, "get" | "set" | "remove">,
  address: Address,
  next: (entry: T) => T | undefined,
): boolean {
  const entry = table.get(address);
  if (entry === undefined) return false;
  const changed = next(entry);
  if (changed === undefined) table.remove(address);
  else table.set(address, changed);
  return true;
}

/** Releases a binding. Without one of its objects a migration is over, unless its database is still to be opened again. */
function release(live: LiveDocument, address: Address): boolean {
  const isReleased = change(live.resources, address, () => undefined);
  const main = withoutTwin(address);
  if (isReleased && (address === main || !isClosed(live.view.migrations?.[main])))
    live.setMigration(main, undefined);
  return isReleased;
}

/** Ends the pending operation, and records the values that `applied` returns: none after a failure. */
function end(
  live: LiveDocument,
  address: Address,
  applied: (converging: Converging) => Converging["record"],
  { at, shownCreatedAt, ineffective = [] }: Partial<Extract<StateEvent, { type: "operation-settled" }>> = {},
): boolean {
  const converging = live.resources.get(address)?.converging;
  if (converging === undefined) return false;
  const record = applied(converging);
  return change(live.resources, address, (bound) => {
    const { converging: _ended, ineffective: _before, ...rest } = withShownTime(bound, shownCreatedAt);
    const known = { ...rest, recorded: { ...rest.recorded, ...record } };
    const timed = at === undefined ? known : withTimes(known, { ...converging, record }, ineffective, at);
    return ineffective.length === 0 ? timed : { ...timed, ineffective };
  });
}

/** The time at the first look is kept: a later one is compared with it. */
function withShownTime(bound: Bound, shownCreatedAt: string | undefined): Bound {
  return shownCreatedAt === undefined ? bound : { shownCreatedAt, ...bound };
}

/** Remembers how long the operation took that is waited for and has ended. */
function learn({ resources, view, setHead }: LiveDocument, address: Address, took: number | undefined): void {
  const bound = resources.get(address);
  if (took === undefined || bound?.converging === undefined) return;
  const { operation } = bound.converging;
  setHead({ durations: withDuration(view.durations, bound.kind, operation, took) });
}

/** Closes an intent; a round goes with the last of its intents. */
function closeIntent({ intents, rounds }: LiveDocument, address: Address): boolean {
  const intent = intents.get(address);
  if (intent === undefined) return false;
  intents.remove(address);
  if (intents.count("round", intent.round) === 0) delete rounds[intent.round];
  return true;
}

function withoutPaths(
  recorded: { readonly [path: string]: Json },
  paths: readonly string[],
): { readonly [path: string]: Json } {
  if (paths.length === 0) return recorded;
  return Object.fromEntries(Object.entries(recorded).filter(([path]) => !paths.includes(path)));
}

/**
 * The times after an operation was seen to end at `at`. A create or update sets the whole object right, save ineffective paths, which
 * keep the time before. Any other operation proves only the values that it records.
 */
function withTimes(
  bound: Bound,
  { operation, record }: Pick<Converging, "operation" | "record">,
  ineffective: readonly string[],
  at: string,
): Bound {
  if (operation !== "create" && operation !== "update") return withSeenRight(bound, Object.keys(record), at);
  const { seenRight = {}, ...rest } = bound;
  const before = ineffective.map((path): [string, string] => [
    path,
    own(seenRight, path) ?? bound.appliedAt ?? bound.createdAt,
  ]);
  const whole = { ...rest, appliedAt: at };
  return before.length === 0 ? whole : { ...whole, seenRight: Object.fromEntries(before) };
}

/** The same object with fields that were seen right at `at`. */
function withSeenRight(bound: Bound, paths: readonly string[], at: string): Bound {
  if (paths.length === 0) return bound;
  const seen = Object.fromEntries(paths.map((path) => [path, at]));
  return { ...bound, seenRight: { ...bound.seenRight, ...seen } };
}

/** Renames an address in place: with its twins, its migration, and every reference to it. False if nothing has it, or another one is taken already. */
function moveAddress(
  { resources, intents, view, setHead }: LiveDocument,
  { from, to, renamed = {} }: Extract<StateEvent, { readonly type: "moved" }>,
): boolean {
  const tables = [resources, intents];
  const knows = (address: Address): boolean => tables.some((table) => table.get(address) !== undefined);
  if (knows(to) || !knows(from)) return false;
  const twins = twinKinds.map((twin) => [twinOf(from, twin), twinOf(to, twin)] as const);
  for (const [old, now] of [[from, to] as const, ...twins.filter(([twin]) => knows(twin))]) {
    moveIn(resources, old, now, renamed);
    moveIn(intents, old, now, renamed);
  }
  if (view.migrations !== undefined) setHead({ migrations: movedMigrations(view.migrations, from, to) });
  return true;
}

function movedMigrations(
  migrations: { readonly [address: Address]: Migration },
  from: Address,
  to: Address,
): { readonly [address: Address]: Migration } {
  const under = <T>(entries: { readonly [address: Address]: T }): { readonly [address: Address]: T } =>
    Object.fromEntries(Object.entries(entries).map(([at, entry]) => [at === from ? to : at, entry]));
  return mapped(under(migrations), ({ former, ...rest }) =>
    former === undefined ? rest : { ...rest, former: under(former) },
  );
}

function moveIn<T extends Pick<Bound & Intent, "refs" | "recorded">>(
  table: Pick<IndexedTable<T, "ref">, "get" | "having" | "set" | "remove">,
  from: Address,
  to: Address,
  renamed: { readonly [address: Address]: { readonly [path: string]: Json } },
): void {
  for (const address of new Set([from, ...table.having("ref", from), ...Object.keys(renamed)])) {
    const entry = table.get(address);
    if (entry === undefined || address === to) continue;
    table.remove(address);
    const refs = entry.refs.map((ref) => (ref === from ? to : ref));
    const recorded = { ...entry.recorded, ...renamed[address] };
    table.set(address === from ? to : address, { ...entry, refs, recorded });
  }
}
