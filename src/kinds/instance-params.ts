/** @module Makes the path parameters of an instance's component from a profile. */
import { GraphformError } from "../model/errors.ts";
import { type JsonObject, own } from "../model/json.ts";
import type { Profile } from "../model/profile.ts";

/** Path parameters of a component: the keys that the profile has for a tier and a component. */
export function instanceParams(place: JsonObject, profile: Profile): { readonly [name: string]: string } {
  const tier = own(profile.tiers, String(place["tier"]));
  const resourceKey = own(tier?.components ?? {}, String(place["component"]));
  if (tier === undefined || resourceKey === undefined) {
    throw new GraphformError(
      "profile-component",
      `profile ${profile.name} has no component "${String(place["component"])}" of tier "${String(place["tier"])}"`,
      { hint: "graphform profile show lists what it has" },
    );
  }
  return { serviceModelKey: tier.serviceModelKey, productTierKey: tier.productTierKey, resourceKey };
}
