import type { InstanceRecord } from "./records.ts";
import { ServiceError } from "./service-error.ts";

/** Versions of every plan, oldest first. All of them run the same database program here: a version is a number alone. */
const versions: readonly string[] = ["1.0", "1.1"];

/** The version that a plan gives to what is created without naming one. */
export const preferredVersion: string = versions[0] ?? "";

/** The version of its plan that an instance has; records of earlier versions of the platform hold none. */
export function versionOf({ planVersion }: Pick<InstanceRecord, "planVersion">): string {
  return planVersion ?? preferredVersion;
}

/** A version that a request names; 400 where no plan has it. */
export function knownVersion(asked: string): string {
  if (rankOf(asked) >= 0) return asked;
  throw new ServiceError(400, `no service plan has version ${asked}; there are ${versions.join(", ")}`);
}

/** The version that an instance is upgraded to: the one that is asked for, else the newest. 400 where it is none, or not newer. */
export function upgradeTarget(record: InstanceRecord, asked: string = versions.at(-1) ?? ""): string {
  const [target, now] = [knownVersion(asked), versionOf(record)];
  if (rankOf(target) > rankOf(now)) return target;
  throw new ServiceError(400, `instance ${record.id} has version ${now}; ${target} is not newer`);
}

function rankOf(version: string): number {
  return versions.indexOf(version);
}
