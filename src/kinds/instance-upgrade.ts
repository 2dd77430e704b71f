/** @module Makes the request body of a version upgrade. */
import { defined, type JsonObject } from "../model/json.ts";
import type { Choices } from "../model/kind.ts";
import type { Ref } from "../model/observed.ts";
import type { Profile } from "../model/profile.ts";
import type { Reads } from "../model/service.ts";
import { instanceParams } from "./instance-params.ts";

/** The version that an instance shows; undefined where the service shows none. */
export async function shownVersion(
  service: Reads,
  { id, place }: Ref,
  signal: AbortSignal,
): Promise<string | undefined> {
  const params = { ...instanceParams(place, service.profile), id };
  const { version } = (await service.read({ operation: "instance.describe", params }, signal)).values;
  return typeof version === "string" || typeof version === "number" ? String(version) : undefined;
}

/** The body of a version upgrade: the seven keys that the paths of an instance are made of, and the version. */
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
    ...defined({ targetVersion: version }),
  };
}
