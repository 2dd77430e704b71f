/** @module Formats and parses addresses of resources. */
import { shellWord } from "./errors.ts";
import { jsonIn } from "./json.ts";

/** Names a resource of the manifest: `instances.orders`, `instances.cache["us-east-1"]`. */
export type Address = string;

export interface AddressParts {
  readonly section: string;
  readonly name: string;
  /** The forEach key, where the resource is one of several. */
  readonly key?: string;
}

/** Writes an address; the key is quoted as JSON so that any text can be a key. */
export function formatAddress(parts: AddressParts): Address {
  const base = `${parts.section}.${parts.name}`;
  return parts.key === undefined ? base : `${base}[${JSON.stringify(parts.key)}]`;
}

const shape =
  /^([A-Za-z][A-Za-z0-9]*)\.([A-Za-z0-9][A-Za-z0-9_-]*(?:~next|~former)?)(?:\[("(?:[^"\\]|\\.)*")\])?$/;

/** A second object of an address while its data is moved: the one that takes over, or the one that was taken over. No manifest can declare one. */
export type Twin = (typeof twinKinds)[number];

export const twinKinds = ["next", "former"] as const;

/** The address of a twin: `instances.orders~next`, `instances.cache~next["eu"]`. */
export function twinOf(address: Address, twin: Twin): Address {
  const at = address.indexOf("[");
  return at < 0 ? `${address}~${twin}` : `${address.slice(0, at)}~${twin}${address.slice(at)}`;
}

/** The kind of twin that an address stands for; undefined for an address of a manifest. */
export function twinIn(address: Address): Twin | undefined {
  const [, twin] = /^[^[]*~(next|former)(?:\[|$)/.exec(address) ?? [];
  return twin === "next" || twin === "former" ? twin : undefined;
}

/** The declared address that a twin belongs to; any other address as it is. */
export function withoutTwin(address: Address): Address {
  return twinIn(address) === undefined ? address : address.replace(/~(?:next|former)/, "");
}

/** Sorts by address. */
export function byAddress(left: { readonly address: Address }, right: { readonly address: Address }): number {
  return left.address < right.address ? -1 : 1;
}

export function parseAddress(text: string): AddressParts | undefined {
  const match = shape.exec(text);
  const [, section, name, quoted] = match ?? [];
  if (section === undefined || name === undefined) return undefined;
  if (quoted === undefined) return { section, name };
  const key: unknown = jsonIn(quoted);
  return typeof key === "string" ? { section, name, key } : undefined;
}

/** An address with its key as graphform writes it: reports escape what a terminal would obey or hide, and commands take what they print. */
export function typedAddress(text: string): string {
  const [, base, quoted, rest] = /^([^["]+)\[("(?:[^"\\]|\\.)*")\](.*)$/s.exec(text) ?? [];
  const key = quoted === undefined ? undefined : jsonIn(quoted);
  return typeof key === "string" ? `${base}[${JSON.stringify(key)}]${rest}` : text;
}

/** Says how a manifest declares an address no longer: without its block, or without its entry in forEach. */
export function undeclaring(address: Address): string {
  const key = parseAddress(address)?.key;
  return key === undefined ? "remove the block" : `take ${JSON.stringify(key)} out of forEach`;
}

/** The ways on from an object that has failed, in one sentence: the one that loses least first, as far as the profile has them. */
export function remedyForFailed(
  address: Address,
  id: string,
  { noun, holdsData }: { readonly noun: string; readonly holdsData: boolean },
  { operations }: { readonly operations: { readonly [name: string]: unknown } },
): string {
  const word = shellWord(address);
  const ways = [
    [`${noun}.events`, `graphform ${noun} events ${word} shows what the service has recorded`],
    ["snapshot.list", "graphform snapshot list shows what can be restored"],
  ] as const;
  return [
    ...(holdsData ? ways.flatMap(([needed, way]) => (operations[needed] === undefined ? [] : [way])) : []),
    `graphform apply --replace ${word} makes a new${holdsData ? ", empty" : ""} one`,
    `the vendor's support can look into ${id}`,
  ].join("; ");
}
