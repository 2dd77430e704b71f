/** @module Defines an object as the service shows it, and tells one from another: by kind, place and id, and by the time of its creation. */
import type { Address } from "./address.ts";
import { serviceTime } from "./clock.ts";
import { shellWord } from "./errors.ts";
import { type Json, type JsonObject, stableJson } from "./json.ts";
import type { Bound, StateDocument } from "./state.ts";

/** Source of an observed value; better ones first. */
export type Source = "probed" | "described" | "echoed" | "recorded";

/** Meaning of a status of the service. */
export type PhaseName = "ready" | "stopped" | "pending" | "failed" | "gone" | "waiting-for-person";

/** The phase of a resource; `detail` is the service's own status and reason. */
export interface Phase {
  readonly is: PhaseName;
  readonly detail: string;
  /** The profile does not name the status: it is waited for, and may never pass. */
  readonly isUnnamed?: true;
  /** It is being deleted, by graphform or by others. */
  readonly isLeaving?: true;
  /** It is in its creation grace period, and the service does not show it yet. */
  readonly isHidden?: true;
}

export interface Seen {
  readonly value: Json;
  readonly source: Source;
  /** For a probed value: the value that the service describes or that was last applied. */
  readonly configured?: Seen;
}

/** Finds an object at the service: its id, and the part of the spec that its path is made of (tier, component). */
export interface Ref {
  readonly id: string;
  readonly place: JsonObject;
}

/** Owner of an object, from the mark that its create carried. */
export interface Owner {
  readonly lineage: string;
  readonly address: Address;
}

/** One object as the service shows it, in the manifest's words; secrets are dropped at the edge. */
export interface Live {
  readonly id: string;
  readonly phase: Phase;
  /** Dotted path of the spec -> value and source. Names of references still stand as ids. */
  readonly spec: { readonly [path: string]: Seen };
  /** Maps of the spec that are shown whole: an entry that they lack does not exist. */
  readonly whole?: readonly string[];
  readonly outputs: JsonObject;
  /** Output that it should have by now -> the reason why it is missing, as a sentence. */
  readonly missing?: { readonly [output: string]: string };
  /** Null if the service shows marks and there is none of ours; absent if it shows nothing that could hold one. */
  readonly owner?: Owner | null;
  /** The service shows marks, and this object has none: it has no owner, or the service has dropped them. */
  readonly isBare?: true;
  readonly createdAt?: string;
  readonly modifiedAt?: string;
}

/** An object bound to an address: what the service shows, laid over what we recorded. */
export interface Observed extends Live {
  readonly address: Address;
  readonly kind: string;
  readonly place: JsonObject;
  /** The answer of the running object itself; absent if it was not asked. */
  readonly probed?: Probed;
}

/** The reason to rely on nothing that is bound. `in-doubt`: it may be gone, and may be there. `another`: another object has its id. */
export interface Doubt {
  readonly is: "in-doubt" | "another";
  readonly because: string;
  /** The creation time that another object shows. */
  readonly createdAt?: string;
}

/** Values that a running object shows, dotted path -> value in the manifest's words; null if it refuses the declared one. */
export interface Probed {
  readonly values: { readonly [path: string]: Json };
  readonly engine?: string;
}

/**
 * True for a state that was never written, and for the empty one that a takeover of the lock writes if nothing is stored:
 * what is declared may have been made under a state that was lost.
 */
export function knowsNothing({
  resources,
  intents,
  appliedPlans,
}: Pick<StateDocument, "resources" | "intents" | "appliedPlans">): boolean {
  return [resources, intents, appliedPlans].every((known) => Object.keys(known).length === 0);
}

/** An object at the service that no address is bound to. */
export interface Unmanaged extends Ref {
  readonly kind: string;
  /** Absent if it was listed and not described. */
  readonly live?: Live;
}

/** The text that is equal for the same object: its kind, its place and its id. */
export function objectKey(kind: string, { id, place }: Pick<Ref, "id" | "place">): string {
  return `${placeKey({ kind, place })} ${id}`;
}

/** The text that is equal for the same place of a kind. */
export function placeKey({ kind, place }: { readonly kind: string; readonly place: JsonObject }): string {
  return `${kind} ${stableJson(place)}`;
}

/** Says that another object has a bound id: it shows, or has shown, another second of its creation. Undefined if a time is unknown. */
export function anotherObject(bound: Bound | undefined, live: Pick<Live, "createdAt">): string | undefined {
  const other = bound?.otherCreatedAt ?? live.createdAt;
  if (bound === undefined || bound.shownCreatedAt === other) return undefined;
  const [then, now] = [serviceTime(bound.shownCreatedAt), serviceTime(other)];
  if (then === undefined || now === undefined || Math.abs(then - now) < 1000) return undefined;
  const seen = live.createdAt === other ? "it was created at" : "it was once shown as created at";
  return `${bound.id} is there, but is another object than the one that was bound: ${seen} ${other}, and that one at ${bound.shownCreatedAt}`;
}

/** The ways on from another object under a bound id, in one sentence. */
export function remedyForAnother(address: Address, id: string): string {
  const word = shellWord(address);
  return `if the one that was bound is gone for good: graphform state rm ${word}; to manage the one that is there: after that, graphform import ${word} ${shellWord(id)}`;
}

/** A list in words: its kind, and the parameters of its place. "instances of pro single-zone". */
export function placeText(kind: string, place: JsonObject): string {
  return `${kind} of ${Object.values(place).join(" ") || "the service"}`;
}

/** A known object, before it is read; its address is empty if none is bound to it. */
export interface KnownObject {
  readonly address: Address;
  readonly kind: string;
  readonly ref: Ref;
}
