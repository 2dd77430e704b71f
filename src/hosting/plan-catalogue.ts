/** @module Reads the catalogue of plans that a service lists. */
import { isObject, type Json, type JsonObject } from "../model/json.ts";
import type { TierKeys } from "../model/service.ts";

export const accountResource = "r-injectedaccountconfig";

/** One plan that the service lists: its keys in paths, its ids, and the resources that it is made of. */
export interface PlanEntry extends Pick<TierKeys, "serviceModelKey" | "productTierKey"> {
  readonly productTierId: string;
  readonly productTierVersion: string;
  readonly serviceId: string;
  readonly resources: readonly { readonly id: string; readonly key: string }[];
}

/** Reads the answer of `plans.list`: an object with `resourceParameters` is a plan, at any depth. */
export function planEntries(value: Json, above = ""): readonly PlanEntry[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => planEntries(item, above));
  if (!isObject(value)) return [];
  const serviceId = text(value, "serviceId", "serviceID") || above;
  const resources = value["resourceParameters"];
  if (!Array.isArray(resources))
    return Object.values(value).flatMap((inner) => planEntries(inner, serviceId));
  return [
    {
      serviceModelKey: text(value, "serviceModelKey", "serviceModelURLKey"),
      productTierKey: text(value, "productTierKey", "productTierURLKey"),
      productTierId: text(value, "productTierID", "productTierId"),
      productTierVersion: text(value, "productTierVersion"),
      serviceId,
      resources: resources.filter(isObject).map((resource) => ({
        id: text(resource, "resourceId", "resourceID"),
        key: text(resource, "urlKey"),
      })),
    },
  ];
}

function text(entry: JsonObject, ...names: readonly string[]): string {
  return String(names.map((name) => entry[name]).find((value) => typeof value === "string") ?? "");
}
