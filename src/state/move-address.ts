/** @module Renames an address in a document in place: with its twins, its migration, and every reference to them. */
import { type Address, twinKinds, twinOf } from "../model/address.ts";
import type { Json } from "../model/json.ts";
import type { Bound, Intent, Migration } from "../model/state.ts";
import type { StateEvent } from "../model/state-event.ts";
import type { IndexedTable, LiveDocument } from "./live-document.ts";

/** False if nothing has the address, or another one is taken already. */
export function moveAddress(
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
  const entries = Object.entries(under(migrations)).map(([at, { former, ...rest }]): [Address, Migration] => [
    at,
    former === undefined ? rest : { ...rest, former: under(former) },
  ]);
  return Object.fromEntries(entries);
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
