import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { GraphformError } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { stableJson } from "../model/json.ts";
import type { Kind, Reader } from "../model/kind.ts";
import { withNames } from "../model/names.ts";
import type { Live, Observed, Ref } from "../model/observed.ts";
import type { StateDocument } from "../model/state.ts";
import { overlay } from "./overlay.ts";

/** What observing needs; readers cannot write. */
export interface ObserveContext {
  readonly kinds: readonly Kind[];
  readonly readers: ReadonlyMap<string, Reader>;
  readonly state: StateDocument;
  /** Ms since 1970. */
  readonly now: number;
  /** How long a created object may be missing, in ms. */
  readonly listLag: number;
  readonly signal: AbortSignal;
}

/** What the service shows, under the addresses that it belongs to. */
export interface Observation {
  readonly observed: ReadonlyMap<Address, Observed>;
  readonly unmanaged: readonly { readonly kind: string; readonly id: string }[];
}

interface Known {
  readonly address: Address;
  readonly kind: string;
  readonly ref: Ref;
}

/**
 * Looks at every bound object, at every object to be adopted, and at what else there is in the same places.
 * An object counts as gone only when neither describe nor list knows it and it is old enough to be known.
 */
export async function observe(desired: readonly Desired[], context: ObserveContext): Promise<Observation> {
  const known = [...boundObjects(context), ...adoptions(desired, context)];
  const places = placesOf(desired, known, context);
  const [lives, lists] = await Promise.all([
    Promise.all(known.map((entry) => readerOf(entry.kind, context).get(entry.ref, context.signal))),
    Promise.all(places.map(async ({ kind, place }) => readerOf(kind, context).list(place, context.signal))),
  ]);
  const listed = new Set(lists.flat());
  const found = known.flatMap((entry, at): [Known, Live][] => {
    const live = lives[at] ?? notYetThere(entry, listed, context);
    return live === undefined || live.phase.is === "gone" ? [] : [[entry, live]];
  });
  const outputs = new Map(found.map(([entry, live]): [Address, JsonObject] => [entry.address, live.outputs]));
  const observed = new Map(
    found.map(([entry, live]): [Address, Observed] => {
      const named = withNames(live, kindOf(entry.kind, context).schema, outputs);
      const spec = overlay(named.spec, context.state.resources[entry.address]);
      return [entry.address, { ...named, spec, address: entry.address, kind: entry.kind, place: entry.ref.place }];
    }),
  );
  const ours = new Set(known.map((entry) => entry.ref.id));
  const unmanaged = places.flatMap(({ kind }, at) =>
    (lists[at] ?? []).filter((id) => !ours.has(id)).map((id) => ({ kind, id })),
  );
  return { observed, unmanaged };
}

function boundObjects(context: ObserveContext): readonly Known[] {
  return Object.entries(context.state.resources).map(([address, bound]) => ({
    address,
    kind: bound.kind,
    ref: { id: bound.id, place: bound.place },
  }));
}

function adoptions(desired: readonly Desired[], context: ObserveContext): readonly Known[] {
  return desired.flatMap((entry): readonly Known[] => {
    if (entry.importId === undefined || context.state.resources[entry.address] !== undefined) return [];
    const place = kindOf(entry.kind, context).place(entry.spec);
    return [{ address: entry.address, kind: entry.kind, ref: { id: entry.importId, place } }];
  });
}

/** Each place once: what is declared there, and what is bound there. */
function placesOf(
  desired: readonly Desired[],
  known: readonly Known[],
  context: ObserveContext,
): readonly { readonly kind: string; readonly place: JsonObject }[] {
  const declared = desired.map((entry) => ({ kind: entry.kind, place: kindOf(entry.kind, context).place(entry.spec) }));
  const all = [...declared, ...known.map((entry) => ({ kind: entry.kind, place: entry.ref.place }))];
  return [...new Map(all.map((entry) => [`${entry.kind} ${stableJson(entry.place)}`, entry])).values()];
}

/** Describe does not know it: still there where a list has it, or where it is too young to be shown. */
function notYetThere(entry: Known, listed: ReadonlySet<string>, context: ObserveContext): Live | undefined {
  const bound = context.state.resources[entry.address];
  if (bound === undefined) throw notFound(entry);
  const deleting = bound.converging?.operation === "delete";
  const young = context.now - Date.parse(bound.createdAt) < context.listLag;
  if (deleting || (!listed.has(entry.ref.id) && !young)) return undefined;
  return { id: entry.ref.id, phase: { is: "pending", detail: "not shown yet" }, spec: {}, outputs: {} };
}

function notFound(entry: Known): GraphformError {
  return new GraphformError("import-not-found", `there is no ${entry.ref.id} to bind ${entry.address} to`, {
    hint: "check the id, and that tier, component and subscription are those of the object",
  });
}

function readerOf(kind: string, context: ObserveContext): Reader {
  const reader = context.readers.get(kind);
  if (reader === undefined) throw new Error(`no reader for "${kind}"`);
  return reader;
}

function kindOf(name: string, context: ObserveContext): Kind {
  const kind = context.kinds.find((candidate) => candidate.name === name);
  if (kind === undefined) throw new Error(`no kind is called "${name}"`);
  return kind;
}
