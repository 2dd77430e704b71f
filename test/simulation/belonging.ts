import { kinds } from "../../src/kinds/index.ts";
import type { Address } from "../../src/model/address.ts";
import type { StateDocument } from "../../src/model/state.ts";
import type { Proc } from "./proc.ts";
import type { Thing } from "./thing.ts";

/** Where it is bound, or else what it was made for. */
export function addressOf(thing: Thing, state: StateDocument | undefined): Address {
  return boundAddress(thing, state) ?? thing.madeFor ?? "";
}

/** Where the state binds it. */
export function boundAddress(thing: Thing, state: StateDocument | undefined): Address | undefined {
  // The last one: an object that goes to another address is bound to both for a moment.
  return Object.entries(state?.resources ?? {}).findLast(
    ([, entry]) => entry.id === thing.id && entry.kind === thing.kind,
  )?.[0];
}

/** The protection of a resource that is to be created: what the manifest says, or its kind where it says nothing. */
export function protects(process: Pick<Proc, "resource">, address: Address): boolean {
  const declared = process.resource(address);
  const kind = kinds.find(address.split(".")[0] ?? "");
  return declared?.protect ?? kind?.protectedByDefault(declared?.spec ?? {}) ?? true;
}

/** The protection of an object that exists where nobody says anything: databases, but for those of the free tier. */
export function protectsByDefault({ kind, place }: Pick<Thing, "kind" | "place">): boolean {
  return kind === "instances" && !place.startsWith("free/");
}
