/** @module Finds the memory of the machine that an instance runs on. */
import type { InstanceTypes } from "./instance-types.ts";

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
