import { GraphformError } from "../model/errors.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Reads } from "../model/service.ts";

/** The account configuration resource's prefix (specification 2.6). */
const prefix = "r-injectedaccountconfig";

/**
 * Path parameters of the account configuration resource, found through the service plans once (specification 2.6); none
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
  for (const entry of entriesOf(body)) {
    const resources = Array.isArray(entry["resourceParameters"])
      ? entry["resourceParameters"].filter(isObject)
      : [];
    const resource = resources.find((candidate) => String(candidate["resourceId"]).startsWith(prefix));
    if (resource === undefined) continue;
    return {
      serviceModelKey: text(entry, "serviceModelKey", "serviceModelURLKey"),
      productTierKey: text(entry, "productTierKey", "productTierURLKey"),
      resourceKey: text(resource, "urlKey"),
    };
  }
  throw new GraphformError("no-account-resource", "no service plan has an account configuration resource", {
    hint: "cloud accounts need a bring-your-own-account plan; check the subscription",
  });
}

/** Plan entries wherever the answer nests them: an object that carries resourceParameters is one. */
function entriesOf(value: Json): readonly JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(entriesOf);
  if (!isObject(value)) return [];
  return Array.isArray(value["resourceParameters"]) ? [value] : Object.values(value).flatMap(entriesOf);
}

function text(entry: JsonObject, ...names: readonly string[]): string {
  return String(names.map((name) => entry[name]).find((value) => typeof value === "string") ?? "");
}
