/** @module Finds the path parameters of the account configuration resource. */
import { planEntries } from "../hosting/plan-catalogue.ts";
import { GraphformError } from "../model/errors.ts";
import type { Reads } from "../model/service.ts";

/** The account configuration resource's prefix. */
export const accountResource = "r-injectedaccountconfig";

/**
 * Path parameters of the account configuration resource, found through the service plans once; none
 * where the profile lists no plans and its paths name the resource themselves. The result rejects where no plan has one.
 */
export function accountParams(
  service: Reads,
): (signal: AbortSignal) => Promise<{ readonly [name: string]: string }> {
  return (signal) => {
    const before = searches.get(service);
    if (before !== undefined) return before;
    const found = search(service, signal).catch((error: unknown) => {
      searches.delete(service);
      throw error;
    });
    searches.set(service, found);
    return found;
  };
}

const searches = new WeakMap<Reads, Promise<{ readonly [name: string]: string }>>();

async function search(service: Reads, signal: AbortSignal): Promise<{ readonly [name: string]: string }> {
  if (!service.offers("plans.list")) return {};
  const { body } = await service.read({ operation: "plans.list", params: {} }, signal);
  for (const { serviceModelKey, productTierKey, resources } of planEntries(body)) {
    const resource = resources.find(({ id }) => id.startsWith(accountResource));
    if (resource !== undefined) return { serviceModelKey, productTierKey, resourceKey: resource.key };
  }
  throw new GraphformError("no-account-resource", "no service plan has an account configuration resource", {
    hint: "cloud accounts need a bring-your-own-account plan; check the subscription",
  });
}
