/** @module Lists the versions of the service plans and checks upgrades between them. */
import type { InstanceRecord } from "./records.ts";
import { ServiceError } from "./service-error.ts";

/** Versions of every plan, oldest first. All of them run the same database program: only the number differs. */
const versions: readonly string[] = ["1.0", "1.1"];

/** The version of instances whose create names none. */
export const preferredVersion: string = versions[0] ?? "";

/** The plan version of an instance; records of earlier platforms contain none. */
export function versionOf({ planVersion }: Pick<InstanceRecord, "planVersion">): string {
  return planVersion ?? preferredVersion;
}

/** Returns the version where it exists; refused (400) otherwise. */
export function knownVersion(asked: string): string {
  if (indexOfVersion(asked) >= 0) return asked;
  throw new ServiceError(400, `no service plan has version ${asked}; there are ${versions.join(", ")}`);
}

/** The target of an upgrade: the requested version, or the newest. Refused (400) where it does not exist or is not newer. */
export function upgradeTarget(record: InstanceRecord, asked: string = versions.at(-1) ?? ""): string {
  const [target, now] = [knownVersion(asked), versionOf(record)];
  if (indexOfVersion(target) > indexOfVersion(now)) return target;
  throw new ServiceError(400, `instance ${record.id} has version ${now}; ${target} is not newer`);
}

function indexOfVersion(version: string): number {
  return versions.indexOf(version);
}
