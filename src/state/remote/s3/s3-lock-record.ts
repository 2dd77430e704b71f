/** @module Writes and reads the record in a lock object, and decides by the service's clock whether its lease has run out. */
import { createHash } from "node:crypto";
import { isObject } from "../../../model/json.ts";
import type { Holder } from "../../store.ts";
import { holderOf, lockInfoOf, parsed, unknownHolder } from "../wire/lock-info.ts";
import type { StoreAnswer } from "../wire/send.ts";

/** A lock object as it is stored now. */
export interface StoredLock {
  readonly holder: Holder;
  readonly etag: string;
  /** True where its holder gave it back, or did not renew it in time. */
  readonly isFree: boolean;
  /** True where its holder gave it back. */
  readonly isReleased: boolean;
  /** Ms since it was stored, by the service's clock; undefined where the answer does not show it. */
  readonly age: number | undefined;
}

const epoch = "1970-01-01T00:00:00.000Z";

/** Times in HTTP headers are whole seconds: the age of an object may be one second less than it seems. */
const grain = 1000;

/** Lease of a lock that does not show one, in ms. */
const unknownLease = 60_000;

/** The text of a lock object: Terraform's LockInfo and the lease. A lock that was given back expired long ago. */
export function lockRecord(holder: Holder, path: string, released = false): string {
  const { heartbeat, pid, host } = holder;
  const expires = released ? epoch : holder.expires;
  const info = lockInfoOf({ ...holder, expires }, path);
  return `${JSON.stringify({ ...info, Pid: pid, Host: host, Heartbeat: heartbeat, Expires: expires })}\n`;
}

/**
 * Reads a lock object. The lease counts from the time at which the service stored the object to the service's own time: no
 * clock of a run is asked. An object that is no lock of ours is held by somebody, for a minute after it was stored.
 */
export function readLock({ body, headers }: StoreAnswer, etag: string): StoredLock {
  const text = body.toString("utf8");
  const record = parsed(text);
  const known = holderOf(record);
  const [heartbeat, expires] = [record["Heartbeat"], record["Expires"]];
  const holder =
    known === undefined || typeof heartbeat !== "string" || typeof expires !== "string"
      ? (known ?? unknownHolder(createHash("sha256").update(text).digest("hex").slice(0, 16)))
      : { ...known, heartbeat, expires };
  const isOurs = isObject(record) && typeof expires === "string";
  const isReleased = isOurs && holder.expires === epoch;
  const span = Date.parse(holder.expires) - Date.parse(holder.heartbeat);
  const lease = isOurs && span > 0 ? span : unknownLease;
  const age = Date.parse(headers["date"] ?? "") - Date.parse(headers["last-modified"] ?? "");
  // Without both times the age is NaN, and nothing is greater than a lease.
  return {
    holder,
    etag,
    isReleased,
    isFree: isReleased || age > lease + grain,
    age: Number.isNaN(age) ? undefined : Math.max(0, age),
  };
}
