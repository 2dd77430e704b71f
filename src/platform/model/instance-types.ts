/** @module Reads instance types with their memory from profiles, and computes memory sizes. */
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import { isObject, type Json } from "../../model/json.ts";

/** Memory in bytes of every known instance type, by cloud provider. */
export type InstanceTypes = { readonly [provider: string]: { readonly [name: string]: number } };

/**
 * Instance types of the package's default profile, searched for upwards from this file, so that it is found from the sources and
 * from a build. Empty where the file is missing.
 */
export async function loadInstanceTypes(): Promise<InstanceTypes> {
  for (const up of ["../", "../../", "../../../"]) {
    const path = new URL(`${up}profiles/default.yaml`, import.meta.url);
    const text = await readFile(path, "utf8").catch(() => undefined);
    if (text !== undefined) return readInstanceTypes(parse(text));
  }
  return {};
}

/** Instance types of a profile document. Malformed entries are ignored. */
export function readInstanceTypes(profile: Json): InstanceTypes {
  const byProvider = isObject(profile) ? profile["instanceTypes"] : undefined;
  if (!isObject(byProvider)) return {};
  return Object.fromEntries(
    Object.entries(byProvider).map(([provider, types]) => [provider, memoryOf(types)]),
  );
}

function memoryOf(types: Json): { readonly [name: string]: number } {
  const found: { [name: string]: number } = {};
  for (const [name, type] of Object.entries(isObject(types) ? types : {})) {
    const memory = isObject(type) ? type["memoryGB"] : undefined;
    if (typeof memory === "number") found[name] = memory * 1024 ** 3;
  }
  return found;
}

/** The tier and provider of an instance, and its requested machine type. */
export interface Machine {
  readonly tier: string;
  readonly cloudProvider: string;
  readonly type: string | undefined;
}

/**
 * Memory of the default machine of tiers with a choice of machines. The service does not document its defaults; these are the
 * platform's.
 */
const byDefault: { readonly [tier: string]: number } = {
  "enterprise-byoa": 8 * 1024 ** 3,
  enterprise: 8 * 1024 ** 3,
  pro: 4 * 1024 ** 3,
};

/** Memory in bytes of the tier's default machine; undefined for a tier without a choice of machines. */
export function defaultMemory(tier: string): number | undefined {
  return Object.hasOwn(byDefault, tier) ? byDefault[tier] : undefined;
}

/** Memory in bytes of an instance's machine; undefined for an unknown type. */
export function machineMemory(
  { tier, cloudProvider, type }: Machine,
  types: InstanceTypes,
): number | undefined {
  if (type === undefined) return defaultMemory(tier);
  const known = Object.hasOwn(types, cloudProvider) ? types[cloudProvider] : undefined;
  return known !== undefined && Object.hasOwn(known, type) ? known[type] : undefined;
}

const powers: { readonly [letter: string]: number } = { "": 0, K: 1, M: 2, G: 3, T: 4 };

/** Bytes of a memory size: `6GB` and `6GiB` are 1024-based, `6G` is 1000-based; undefined for a malformed text. */
export function bytesOf(text: string): number | undefined {
  const [, amount, letter = "", suffix] = /^([0-9]+(?:\.[0-9]+)?)\s?([KMGT]?)(i?B?)$/.exec(text) ?? [];
  const power = powers[letter];
  if (amount === undefined || power === undefined) return undefined;
  return Math.round(Number(amount) * (suffix === "" ? 1000 : 1024) ** power);
}
