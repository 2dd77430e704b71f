/** @module Takes, renews, takes over and gives back the lock object of a state. */
import { createHash } from "node:crypto";
import type { GraphformError } from "../../../model/errors.ts";
import { defined, objectIn } from "../../../model/json.ts";
import { holderWith } from "../../lock-words.ts";
import type { Holder } from "../../store.ts";
import type { Lease, StateDriver, Taken } from "../driver.ts";
import { holderOf, lockInfoOf } from "../lock-info.ts";
import type { StoreAnswer } from "../store-http.ts";
import { unreachable } from "../store-refusals.ts";
import { etagOf, isAbsent } from "./s3-objects.ts";
import { type S3Request, s3Refusal } from "./s3-request.ts";

export interface S3Lock extends Pick<StateDriver, "take" | "renew" | "holder" | "remove"> {
  /** `deletes`: the service refuses to delete an object of another ETag, so that no other lock goes with ours. */
  release(lease: Lease, deletes: boolean): Promise<void>;
}

const attempts = 4;

/** The lock is one object, made with `If-None-Match: *`. Every further version replaces the one whose ETag was read. The late one gets 412. */
export function s3Lock(request: S3Request, key: string, where: string): S3Lock {
  /** The ETag of the new version; undefined if the object is not the expected one any more. */
  const put = async (
    text: string,
    condition: { readonly "if-match": string } | { readonly "if-none-match": "*" },
  ): Promise<string | undefined> => {
    const answer = await request({ method: "PUT", key, headers: { ...condition }, body: text });
    if (answer.status === 200) return etagOf(answer, where);
    // 409: another conditional request for it is in progress.
    if (answer.status === 412 || answer.status === 409 || isAbsent(answer)) return undefined;
    throw s3Refusal(answer, "write the lock", where);
  };
  const look = async (): Promise<StoredLock | undefined> => {
    const answer = await request({ method: "GET", key });
    if (isAbsent(answer)) return undefined;
    if (answer.status !== 200) throw s3Refusal(answer, "read the lock", where);
    return readLock(answer, etagOf(answer, where));
  };

  const contended = (): GraphformError =>
    unreachable(where, "changes its lock each time it is looked at", "run the command again");

  const take = async (holder: Holder): Promise<Taken> => {
    const record = lockRecord(holder, where);
    const taken = (token: string): Taken => ({ is: "taken", lease: { holder, token } });
    const made = await put(record, { "if-none-match": "*" });
    if (made !== undefined) return taken(made);
    for (let attempt = 1; attempt < attempts; attempt += 1) {
      const found = await look();
      const isOurs = found?.holder.id === holder.id && !found.isReleased;
      // Ours already: the answer to an earlier request was lost.
      if (found !== undefined && !found.isFree && !isOurs)
        return { is: "held", by: found.holder, ...defined({ age: found.age }) };
      const etag = await put(
        record,
        found === undefined ? { "if-none-match": "*" } : { "if-match": found.etag },
      );
      if (etag === undefined) continue;
      const isOver = found !== undefined && !found.isReleased && !isOurs;
      return isOver ? { is: "taken", lease: { holder, token: etag }, over: found.holder } : taken(etag);
    }
    throw contended();
  };

  return {
    take,
    async renew({ token }, holder) {
      const record = lockRecord(holder, where);
      let etag: string = token;
      for (let attempt = 1; attempt < attempts; attempt += 1) {
        const renewed = await put(record, { "if-match": etag });
        if (renewed !== undefined) return { is: "renewed", lease: { holder, token: renewed } };
        // It may be our own renewal of before, whose answer was lost.
        const found = await look();
        if (found === undefined || found.isReleased) return { is: "lost" };
        if (found.holder.id !== holder.id) return { is: "lost", to: found.holder };
        etag = found.etag;
      }
      throw contended();
    },
    async release({ holder, token }, deletes) {
      let etag = await put(lockRecord(holder, where, true), { "if-match": token });
      if (etag === undefined) {
        const found = await look();
        if (found === undefined || found.holder.id !== holder.id) return;
        etag = found.isReleased
          ? found.etag
          : await put(lockRecord(holder, where, true), { "if-match": found.etag });
      }
      if (etag === undefined || !deletes) return;
      const answer = await request({ method: "DELETE", key, headers: { "if-match": etag } });
      // The lock was given back before: no right to delete, or a new holder, does no harm.
      if (answer.status >= 500) throw s3Refusal(answer, "delete the lock", where);
    },
    async holder() {
      const found = await look();
      return found === undefined || found.isFree ? undefined : found.holder;
    },
    async remove(id) {
      for (let attempt = 1; attempt < attempts; attempt += 1) {
        const found = await look();
        if (found === undefined || found.isReleased || found.holder.id !== id) return false;
        const record = lockRecord(found.holder, where, true);
        if ((await put(record, { "if-match": found.etag })) !== undefined) return true;
      }
      throw contended();
    },
  };
}

interface StoredLock {
  readonly holder: Holder;
  readonly etag: string;
  /** True if its holder gave it back, or did not renew it in time. */
  readonly isFree: boolean;
  readonly isReleased: boolean;
  /** Ms since it was stored, by the service's clock; undefined if the answer does not show it. */
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
 * Reads a lock object. The lease counts from the time at which the service stored the object, by the service's own time. An object that
 * is no lock of ours is held for a minute after it was stored.
 */
function readLock({ body, headers }: StoreAnswer, etag: string): StoredLock {
  const text = body.toString("utf8");
  const record = objectIn(text) ?? {};
  const known = holderOf(record);
  const [heartbeat, expires] = [record["Heartbeat"], record["Expires"]];
  const other = known ?? holderWith({ id: createHash("sha256").update(text).digest("hex").slice(0, 16) });
  const holder =
    known === undefined || typeof heartbeat !== "string" || typeof expires !== "string"
      ? { ...other, expires: new Date(Date.parse(other.heartbeat) + unknownLease).toISOString() }
      : { ...known, heartbeat, expires };
  const isOurs = typeof expires === "string";
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
