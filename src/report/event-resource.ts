import type { Address } from "../model/address.ts";
import { parseAddress } from "../model/address.ts";
import type { JsonObject } from "../model/json.ts";
import type { KindNames } from "./kind-words.ts";
import { typeOf } from "./kind-words.ts";

/** A resource as the event stream names it. */
export function eventResource(address: Address, kind: string, names: KindNames): JsonObject {
  const parts = parseAddress(address);
  return {
    addr: address,
    module: "",
    resource: address,
    implied_provider: "graphform",
    resource_type: typeOf(kind, names),
    resource_name: parts?.name ?? address,
    resource_key: parts?.key ?? null,
  };
}
