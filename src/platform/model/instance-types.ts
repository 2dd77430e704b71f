/** @module Reads instance types with their memory from profiles, and computes memory sizes. */
import { parse } from "yaml";
import { packageFile } from "../../files/package-file.ts";
import { isObject, type Json, type JsonObject, mapped, merge, own } from "../../model/json.ts";

/** Memory in bytes of every known instance type, by cloud provider. */
export type InstanceTypes = { readonly [provider: string]: { readonly [name: string]: number } };

/** A profile of the package, merged with those that it extends. */
export async function readProfile(name: string): Promise<JsonObject> {
  const profile: Json = parse(packageFile(`profiles/${name}.yaml`));
  if (!isObject(profile)) throw new Error(`the profile ${name} is not a map`);
  const { extends: base } = profile;
  return typeof base === "string" ? merge(await readProfile(base), profile) : profile;
}

/** Instance types of a profile document. Malformed entries are ignored. */
export function readInstanceTypes(profile: Json): InstanceTypes {
  const byProvider = isObject(profile) ? profile["instanceTypes"] : undefined;
  if (!isObject(byProvider)) return {};
  return mapped(byProvider, (types) => {
    const memories = Object.entries(isObject(types) ? types : {}).flatMap(([name, type]) => {
      const memory = isObject(type) ? type["memoryGB"] : undefined;
      return typeof memory === "number" ? [[name, memory * 1024 ** 3] as const] : [];
    });
    return Object.fromEntries(memories);
  });
}

/** Memory of the default machine by tier. The service does not document its defaults; these are the platform's. */
const byDefault: { readonly [tier: string]: number } = {
  "enterprise-byoa": 8 * 1024 ** 3,
  enterprise: 8 * 1024 ** 3,
  pro: 4 * 1024 ** 3,
};

export function defaultMemory(tier: string): number | undefined {
  return own(byDefault, tier);
}

/** Memory in bytes of an instance's machine; undefined for an unknown type. */
export function machineMemory(
  { tier, cloudProvider }: { readonly tier: string; readonly cloudProvider: string },
  type: string | undefined,
  types: InstanceTypes,
): number | undefined {
  if (type === undefined) return defaultMemory(tier);
  return own(own(types, cloudProvider) ?? {}, type);
}

const powers: { readonly [letter: string]: number } = { "": 0, K: 1, M: 2, G: 3, T: 4 };

/** Bytes of a memory size: `6GB` and `6GiB` are 1024-based, `6G` is 1000-based; undefined for a malformed text. */
export function bytesOf(text: string): number | undefined {
  const [, amount, letter = "", suffix] = /^([0-9]+(?:\.[0-9]+)?)\s?([KMGT]?)(i?B?)$/.exec(text) ?? [];
  const power = powers[letter];
  if (amount === undefined || power === undefined) return undefined;
  return Math.round(Number(amount) * (suffix === "" ? 1000 : 1024) ** power);
}
