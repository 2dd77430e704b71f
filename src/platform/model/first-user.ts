/** @module Names the user that every instance has from its creation. */
import type { InstanceRecord } from "./records.ts";

/** The requested user name, or `default`, the database's built-in user. */
export function firstUserOf(record: InstanceRecord): string {
  const name = record.params["graphdbUser"];
  return typeof name === "string" ? name : "default";
}
