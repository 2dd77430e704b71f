import type { InstanceRecord } from "./records.ts";

/** Name of an instance's own user: as asked for, or the database's built-in one. */
export function firstUserOf(record: InstanceRecord): string {
  const name = record.params["graphdbUser"];
  return typeof name === "string" ? name : "default";
}
