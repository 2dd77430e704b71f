/** @module Reads and writes tags of instances: declared ones, and the two that mark the owner. */
import { type Json, type JsonObject, objectsIn } from "../model/json.ts";
import type { Owner, Seen } from "../model/observed.ts";
import type { Profile } from "../model/service.ts";
import { partOf, type Spec } from "../model/spec.ts";

/** Names of the tags that a create carries besides the declared ones. */
const ownerTags = { lineage: "graphform-state", address: "graphform-address" } as const;

interface WireTag extends JsonObject {
  readonly key: string;
  readonly value: string;
}

/** True if instances keep tags, which describe shows. */
export function hasTags({ operations }: Pick<Profile, "operations">): boolean {
  return operations["instance.describe"]?.answer["customTags"] !== undefined;
}

export function tagsToSend(declared: readonly WireTag[], owner: Owner | undefined): readonly WireTag[] {
  const own =
    owner === undefined ? [] : [tag(ownerTags.lineage, owner.lineage), tag(ownerTags.address, owner.address)];
  return [...declared, ...own];
}

/** The tags to set in place of those that are shown: the declared ones among them change, all others stay. */
export function tagsAfter(shown: Json | undefined, declared: readonly WireTag[]): readonly WireTag[] {
  const tags = new Map(tagsIn(shown));
  for (const { key, value } of declared) tags.set(key, value);
  return [...tags].map(([key, value]) => tag(key, value));
}

export function seenTags(shown: Json | undefined): { readonly [path: string]: Seen } {
  return Object.fromEntries(
    tagsIn(shown).map(([key, value]) => [`customTags.${key}`, { value, source: "described" }]),
  );
}

export function ownerMark({ lineage, address }: Owner): Spec {
  return { [`customTags.${ownerTags.lineage}`]: lineage, [`customTags.${ownerTags.address}`]: address };
}

/** The owner of an instance by its tags: null if they are shown without one, undefined if no tags are shown. */
export function ownerIn(shown: Json | undefined): Owner | null | undefined {
  if (!Array.isArray(shown)) return undefined;
  const tags = new Map(tagsIn(shown));
  const [lineage, address] = [tags.get(ownerTags.lineage), tags.get(ownerTags.address)];
  return lineage === undefined || address === undefined ? null : { lineage, address };
}

export function isBare(shown: Json | undefined): boolean {
  return Array.isArray(shown) && shown.length === 0;
}

/** True for the names that graphform keeps for itself. */
export function isOwnerTag(name: string): boolean {
  return name === ownerTags.lineage || name === ownerTags.address;
}

export function declaredTags(spec: Spec): readonly WireTag[] {
  return Object.entries(partOf(spec, "customTags")).map(([key, value]) => tag(key, String(value)));
}

function tagsIn(shown: Json | undefined): readonly (readonly [string, string])[] {
  return objectsIn(shown).flatMap(({ key, value }): [string, string][] =>
    typeof key === "string" && typeof value === "string" ? [[key, value]] : [],
  );
}

function tag(key: string, value: string): WireTag {
  return { key, value };
}
