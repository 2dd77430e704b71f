import type { JsonObject } from "../model/json.ts";
import type { Choices } from "../model/kind.ts";
import type { Profile } from "../model/profile.ts";

/** The body of a version upgrade: the seven keys that the paths of an instance are made of, and the version (wire facts 1.1). */
export function upgradeBody(
  params: { readonly [name: string]: string },
  { version }: Choices,
  { keys }: Profile,
): JsonObject {
  return {
    serviceProviderId: keys["provider"] ?? "",
    serviceKey: keys["service"] ?? "",
    serviceAPIVersion: "v1",
    serviceEnvironmentKey: "prod",
    serviceModelKey: params["serviceModelKey"] ?? "",
    productTierKey: params["productTierKey"] ?? "",
    resourceKey: params["resourceKey"] ?? "",
    ...(version === undefined ? {} : { targetVersion: version }),
  };
}
