/** @module Takes, renews, takes over and gives back the lock object of a state. */
import type { GraphformError } from "../../../model/errors.ts";
import type { Holder } from "../../store.ts";
import type { Lease, Renewed, Taken } from "../driver.ts";
import { unreachable } from "../wire/refusals.ts";
import { etagOf, isAbsent } from "./s3-document.ts";
import { lockRecord, readLock, type StoredLock } from "./s3-lock-record.ts";
import { s3Refusal } from "./s3-refusal.ts";
import type { S3Request } from "./s3-request.ts";

/** The lock of one state. */
export interface S3Lock {
  take(holder: Holder): Promise<Taken>;
  renew(lease: Lease, holder: Holder): Promise<Renewed>;
  /** `deletes`: the service refuses to delete an object of another ETag, so that nobody's lock goes with ours. */
  release(lease: Lease, deletes: boolean): Promise<void>;
  holder(): Promise<Holder | undefined>;
  remove(id: string): Promise<boolean>;
}

/** Attempts of one call while others change the same lock. */
const attempts = 4;

/**
 * The lock is one object. It is made with `If-None-Match: *`, and every further version of it replaces the one whose ETag
 * was read. Whoever is late gets 412.
 */
export function s3Lock(request: S3Request, key: string, where: string): S3Lock {
  /** The ETag of the new version; undefined where the object is not the expected one any more. */
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
        return { is: "held", by: found.holder, ...(found.age === undefined ? {} : { age: found.age }) };
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
