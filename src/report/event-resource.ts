/** @module Describes a resource for the event stream. */
import type { Address } from "../model/address.ts";
import { parseAddress } from "../model/address.ts";
import type { JsonObject } from "../model/json.ts";
import type { KindNames } from "./kind-words.ts";
import { typeOf } from "./kind-words.ts";

/** The `resource` object of an event, in the shape of Terraform's stream. */
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
