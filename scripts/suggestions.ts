import type { Suggestions } from "../src/manifest/schema/manifest-schema.ts";
import type { Profile } from "../src/model/profile.ts";

/** The values of profiles that editors suggest; those of regions stand in the field tables. */
export function suggestionsOf(profiles: readonly Pick<Profile, "tiers" | "instanceTypes">[]): Suggestions {
  const unique = (values: readonly string[]): readonly string[] => [...new Set(values)];
  return {
    component: unique(
      profiles.flatMap(({ tiers }) => Object.values(tiers).flatMap((tier) => Object.keys(tier.components))),
    ),
    "config.nodeInstanceType": unique(
      profiles.flatMap(({ instanceTypes }) => Object.values(instanceTypes).flatMap(Object.keys)),
    ),
  };
}
