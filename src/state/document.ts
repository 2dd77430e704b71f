import { randomUUID } from "node:crypto";
import type { Address } from "../model/address.ts";
import type { Bound, Converging, Intent, RecordedOutput, StateDocument } from "../model/state.ts";
import { newKey } from "./vault.ts";

/** What stays the same through a state's whole history. A saved plan carries it for a state that is not born yet. */
export interface Birth {
  readonly lineage: string;
  readonly key: string;
}

/** A state that was never written: serial 0. The first version to be written is `advance` of it. */
export function emptyState(
  name: string,
  birth: Birth = { lineage: randomUUID(), key: newKey() },
): StateDocument {
  const { lineage, key } = birth;
  const savedAt = "1970-01-01T00:00:00.000Z";
  return {
    version: 1,
    name,
    lineage,
    serial: 0,
    key,
    savedAt,
    resources: {},
    intents: {},
    burnt: [],
    outputs: {},
  };
}

/** The version to write: the serial one up. `now` in ms since 1970. */
export function advance(state: StateDocument, now: number): StateDocument {
  return { ...state, serial: state.serial + 1, savedAt: new Date(now).toISOString() };
}

/** Announces a create, before its request is sent. */
export function announceIntent(state: StateDocument, address: Address, intent: Intent): StateDocument {
  return { ...state, intents: { ...state.intents, [address]: intent } };
}

/** The announced object is known: the intent becomes a binding. Without an intent nothing changes. */
export function resolveIntent(
  state: StateDocument,
  address: Address,
  found: { readonly id: string; readonly createdAt: string; readonly converging?: Converging },
): StateDocument {
  const intent = own(state.intents, address);
  if (intent === undefined) return state;
  const { kind, place, recorded, protect, onDelete, refs } = intent;
  return bindResource(state, address, { kind, place, recorded, protect, onDelete, refs, ...found });
}

/** The announced create surely made nothing. */
export function dropIntent(state: StateDocument, address: Address): StateDocument {
  if (own(state.intents, address) === undefined) return state;
  return { ...state, intents: without(state.intents, address) };
}

/** Binds an address to an object in place of what was bound there; an intent of the address is closed by it. */
export function bindResource(state: StateDocument, address: Address, bound: Bound): StateDocument {
  return dropIntent({ ...state, resources: { ...state.resources, [address]: bound } }, address);
}

/** Lets go of an address. */
export function releaseResource(state: StateDocument, address: Address): StateDocument {
  if (own(state.resources, address) === undefined) return state;
  return { ...state, resources: without(state.resources, address) };
}

/** An update is about to be sent: whether it works or not, what these fields are is no longer known. `now` in ms since 1970. */
export function markBegun(
  state: StateDocument,
  address: Address,
  paths: readonly string[],
  now: number,
): StateDocument {
  const bound = own(state.resources, address);
  if (bound === undefined) return state;
  const recorded = Object.fromEntries(
    Object.entries(bound.recorded).filter(([path]) => !paths.includes(path)),
  );
  const converging = { operation: "update", since: new Date(now).toISOString(), record: {} };
  return bindResource(state, address, { ...bound, recorded, converging });
}

/** An operation was accepted and is not seen to finish yet. */
export function markConverging(
  state: StateDocument,
  address: Address,
  converging: Converging,
): StateDocument {
  const bound = own(state.resources, address);
  return bound === undefined ? state : bindResource(state, address, { ...bound, converging });
}

/** The operation was seen to finish: what it applied is recorded now. */
export function markSettled(state: StateDocument, address: Address): StateDocument {
  const bound = own(state.resources, address);
  if (bound?.converging === undefined) return state;
  const { converging, ...rest } = bound;
  return bindResource(state, address, { ...rest, recorded: { ...rest.recorded, ...converging.record } });
}

/** The operation failed: it is no longer waited for, and nothing is recorded. */
export function markUnsettled(state: StateDocument, address: Address): StateDocument {
  const bound = own(state.resources, address);
  if (bound?.converging === undefined) return state;
  const { converging: _, ...rest } = bound;
  return bindResource(state, address, rest);
}

/** Moves what is known of an address, and all references to it, to another one; a taken one stays as it is. */
export function moveResource(state: StateDocument, from: Address, to: Address): StateDocument {
  const taken = own(state.resources, to) !== undefined || own(state.intents, to) !== undefined;
  const known = own(state.resources, from) !== undefined || own(state.intents, from) !== undefined;
  if (taken || !known) return state;
  return { ...state, resources: rename(state.resources, from, to), intents: rename(state.intents, from, to) };
}

/** Remembers that a plan was applied; the newest 1,000 are kept. */
export function burnPlan(state: StateDocument, fingerprint: string): StateDocument {
  return isBurnt(state, fingerprint)
    ? state
    : { ...state, burnt: [...state.burnt, fingerprint].slice(-1000) };
}

/** True for a plan that was applied already. */
export function isBurnt(state: StateDocument, fingerprint: string): boolean {
  return state.burnt.includes(fingerprint);
}

/** Puts these outputs in the place of those that are recorded. */
export function setOutputs(
  state: StateDocument,
  outputs: { readonly [name: string]: RecordedOutput },
): StateDocument {
  return { ...state, outputs };
}

type Entries<T> = { readonly [address: Address]: T };

function own<T>(entries: Entries<T>, address: Address): T | undefined {
  return Object.hasOwn(entries, address) ? entries[address] : undefined;
}

function without<T>(entries: Entries<T>, address: Address): Entries<T> {
  return Object.fromEntries(Object.entries(entries).filter(([key]) => key !== address));
}

function rename<T extends { readonly refs: readonly Address[] }>(
  entries: Entries<T>,
  from: Address,
  to: Address,
): Entries<T> {
  const point = (ref: Address): Address => (ref === from ? to : ref);
  const pointed = (entry: T): T =>
    entry.refs.includes(from) ? { ...entry, refs: entry.refs.map(point) } : entry;
  return Object.fromEntries(
    Object.entries(entries).map(([address, entry]) => [point(address), pointed(entry)]),
  );
}
