import type { InstanceTypes } from "./instance-types.ts";

/** Where an instance runs, and on which type of machine where one was asked for. */
export interface Machine {
  readonly tier: string;
  readonly cloudProvider: string;
  readonly type: string | undefined;
}

/** The machines of tiers that let one choose, where nobody chose: the specification leaves the default to the tier. */
const byDefault: { readonly [tier: string]: number } = {
  "enterprise-byoa": 8 * 1024 ** 3,
  enterprise: 8 * 1024 ** 3,
  pro: 4 * 1024 ** 3,
};

/** Memory in bytes of the tier's default machine; undefined where the tier has no machines to choose from. */
export function defaultMemory(tier: string): number | undefined {
  return Object.hasOwn(byDefault, tier) ? byDefault[tier] : undefined;
}

/** Memory in bytes of an instance's machine; undefined for a type that nobody knows. */
export function machineMemory(
  { tier, cloudProvider, type }: Machine,
  types: InstanceTypes,
): number | undefined {
  if (type === undefined) return defaultMemory(tier);
  const known = Object.hasOwn(types, cloudProvider) ? types[cloudProvider] : undefined;
  return known !== undefined && Object.hasOwn(known, type) ? known[type] : undefined;
}
