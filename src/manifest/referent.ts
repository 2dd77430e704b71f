/** @module Finds the resource that a reference names. */
import type { Address, AddressParts } from "../model/address.ts";
import { formatAddress, parseAddress } from "../model/address.ts";
import type { Block, Inventory } from "./inventory.ts";
import type { Fault } from "./problems/finding.ts";
import { listed, suggest } from "./problems/nearest.ts";

/** The address behind a reference, or the fault of the reference. */
export type Referent = { readonly address: Address } | { readonly fault: Fault };

/** Finds one resource by the parts of its address. */
export function findReferent(inventory: Inventory, parts: AddressParts): Referent {
  const block = inventory.blocks.get(`${parts.section}.${parts.name}`);
  if (block === undefined) return { fault: unknownName(inventory, parts) };
  if (block.iterations === "unknown") return { address: formatAddress(parts) };
  const address = formatAddress(parts);
  if (inventory.members.has(address)) return { address };
  if (inventory.leftOut.has(address)) return { fault: leftOut(address) };
  return { fault: block.iterations === "single" ? noForEach(parts) : wrongKey(parts, block) };
}

/** Finds the resource of a written address; without a key, every resource of a block with `forEach`. */
export function findReferents(
  inventory: Inventory,
  text: string,
  sections: readonly string[],
): { readonly addresses: readonly Address[] } | { readonly fault: Fault } {
  const parts = parseAddress(text);
  if (parts === undefined) return { fault: badAddress(text, sections) };
  const block = inventory.blocks.get(`${parts.section}.${parts.name}`);
  if (parts.key === undefined && block !== undefined && typeof block.iterations === "object") {
    const { section, name } = parts;
    const all = block.iterations.map(({ key }) => formatAddress({ section, name, key }));
    return { addresses: all.filter((address) => inventory.members.has(address)) };
  }
  if (!sections.includes(parts.section)) return { fault: badAddress(text, sections) };
  const found = findReferent(inventory, parts);
  return "fault" in found ? found : { addresses: [found.address] };
}

/** The fault of a text that is not an address. */
export function badAddress(text: string, sections: readonly string[]): Fault {
  const section = text.split(".")[0] ?? "";
  const hint = sections.includes(section)
    ? `write ${section}.name, or ${section}.name["key"]`
    : suggest(section, sections, "an address begins with");
  return { code: "bad-address", message: `${JSON.stringify(text)} is not an address of a resource`, hint };
}

function leftOut(address: Address): Fault {
  const message = `${address} is left out here: its enabled is false`;
  return { code: "left-out", message, hint: "leave out what refers to it too, or enable it" };
}

function unknownName(inventory: Inventory, parts: AddressParts): Fault {
  const names = namesIn(inventory).get(parts.section) ?? [];
  const message = `there is no ${formatAddress(parts)} in this manifest`;
  return {
    code: "unknown-resource",
    message,
    hint: suggest(parts.name, names, `declared under ${parts.section}`),
  };
}

/** Section -> names of its blocks; made once for each inventory. */
function namesIn(inventory: Inventory): ReadonlyMap<string, readonly string[]> {
  const known = names.get(inventory);
  if (known !== undefined) return known;
  const found = new Map<string, string[]>();
  for (const { kind, name } of inventory.blocks.values()) {
    const section = found.get(kind.name) ?? [];
    found.set(kind.name, section);
    section.push(name);
  }
  names.set(inventory, found);
  return found;
}

const names = new WeakMap<Inventory, ReadonlyMap<string, readonly string[]>>();

function noForEach(parts: AddressParts): Fault {
  const { section, name } = parts;
  const message = `${formatAddress(parts)} names one of several, but ${section}.${name} has no forEach`;
  return { code: "unknown-resource", message, hint: `write ${section}.${name}` };
}

function wrongKey(parts: AddressParts, block: Block): Fault {
  const known = keysOf(block);
  const { section, name, key } = parts;
  if (key === undefined) {
    const full = known.map((known) => formatAddress({ section, name, key: known }));
    const message = `${section}.${name} has a forEach: add the key of one of them`;
    return { code: "unknown-resource", message, hint: listed(full, "one of") };
  }
  const message = `there is no ${formatAddress(parts)}: its forEach has no such key`;
  return { code: "unknown-resource", message, hint: suggest(key, known, "keys") };
}

function keysOf(block: Block): readonly string[] {
  const known = keys.get(block);
  if (known !== undefined) return known;
  const found = typeof block.iterations === "string" ? [] : block.iterations.map(({ key }) => key);
  keys.set(block, found);
  return found;
}

const keys = new WeakMap<Block, readonly string[]>();
