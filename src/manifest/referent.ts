/** @module Finds the resources that references and `x-reference` fields name. */
import { type Address, type AddressParts, formatAddress, parseAddress } from "../model/address.ts";
import type { KindSchema } from "../model/field-schema.ts";
import type { Spec } from "../model/spec.ts";
import { referenceFields } from "../model/templates.ts";
import type { Block, Inventory } from "./declared-resources.ts";
import { type Fault, listed, type Report, suggest } from "./problems/fault.ts";

export type Referent = { readonly address: Address } | { readonly fault: Fault };

export function findReferent(inventory: Inventory, parts: AddressParts): Referent {
  const block = inventory.blocks.get(`${parts.section}.${parts.name}`);
  const address = formatAddress(parts);
  const { section, name } = parts;
  if (block === undefined) {
    const message = `there is no ${address} in this manifest`;
    const hint = suggest(name, inventory.names.get(section) ?? [], `declared under ${section}`);
    return { fault: { code: "unknown-resource", message, hint } };
  }
  if (block.iterations === "unknown") return { address };
  if (inventory.members.has(address)) return { address };
  if (inventory.leftOut.has(address)) return { fault: leftOut(address) };
  if (block.iterations !== "single") return { fault: wrongKey(parts, block) };
  const message = `${address} names one of several, but ${section}.${name} has no forEach`;
  return { fault: { code: "unknown-resource", message, hint: `write ${section}.${name}` } };
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
    const all = block.keys.map((key) => formatAddress({ section, name, key }));
    return { addresses: all.filter((address) => inventory.members.has(address)) };
  }
  if (!sections.includes(parts.section)) return { fault: badAddress(text, sections) };
  const found = findReferent(inventory, parts);
  return "fault" in found ? found : { addresses: [found.address] };
}

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

function wrongKey(parts: AddressParts, block: Block): Fault {
  const known = block.keys;
  const { section, name, key } = parts;
  if (key === undefined) {
    const full = known.map((known) => formatAddress({ section, name, key: known }));
    const message = `${section}.${name} has a forEach: add the key of one of them`;
    return { code: "unknown-resource", message, hint: listed(full, "one of") };
  }
  const message = `there is no ${formatAddress(parts)}: its forEach has no such key`;
  return { code: "unknown-resource", message, hint: suggest(key, known, "keys") };
}

/** The paths of `x-reference` fields, each with the address that it names: a name, or name["key"]. */
export function namedReferences(
  spec: Spec,
  schema: KindSchema,
  inventory: Inventory,
  report: Report,
): readonly (readonly [path: string, address: Address])[] {
  const found: [string, Address][] = [];
  for (const { path, section } of referenceFields(schema)) {
    const name = spec[path];
    if (typeof name !== "string" || name === "") continue;
    const parts = parseAddress(`${section}.${name}`);
    const referent = parts === undefined ? { fault: noName(name, section) } : findReferent(inventory, parts);
    if ("address" in referent) found.push([path, referent.address]);
    else report.error(path.split("."), referent.fault);
  }
  return found;
}

function noName(text: string, section: string): Fault {
  const shorter = text.startsWith(`${section}.`) ? text.slice(section.length + 1) : undefined;
  const hint =
    shorter === undefined
      ? `write a name under ${section}, or name["key"]`
      : `write ${shorter}: the section is known`;
  return { code: "bad-reference", message: `${JSON.stringify(text)} is not a name under ${section}`, hint };
}
