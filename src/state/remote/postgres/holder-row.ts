/** @module Reads the holder in a row of locks, with the times that the database gave it. */
import type { Holder } from "../../store.ts";
import type { Row } from "./connections.ts";

/** The holder of a row; what somebody has edited away reads as unknown. */
export function readHolder(row: Row): Holder {
  const stored = row["holder"];
  const fields: Row = typeof stored === "object" && stored !== null ? { ...stored } : {};
  const text = (key: string, otherwise: string): string => {
    const value = fields[key];
    return typeof value === "string" ? value : otherwise;
  };
  const time = (key: string, column: string): string => {
    const value = row[column];
    return value instanceof Date ? value.toISOString() : text(key, new Date(0).toISOString());
  };
  const pid = fields["pid"];
  return {
    id: text("id", ""),
    who: text("who", "somebody"),
    pid: typeof pid === "number" ? pid : 1,
    host: text("host", "unknown"),
    operation: text("operation", "something"),
    created: text("created", new Date(0).toISOString()),
    heartbeat: time("heartbeat", "heartbeat_at"),
    expires: time("expires", "expires_at"),
  };
}
