/** @module Reads the compute instance types and their memory from the default profile. */
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
