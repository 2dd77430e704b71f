/** @module Creates the driver of a state in a bucket of S3, or of a service that speaks its protocol. */
import { isGraphformError } from "../../../model/errors.ts";
import type { Lease, StateDriver } from "../driver.ts";
import { openSender } from "../wire/send.ts";
import type { AwsCredentials } from "./aws-keys.ts";
import { probeS3, proveLock, type S3Abilities } from "./probe-s3.ts";
import { type S3StoreConfig, s3Addresses } from "./s3-address.ts";
import { readS3, writeS3 } from "./s3-document.ts";
import { s3Lock } from "./s3-lock.ts";
import { lockRecord } from "./s3-lock-record.ts";
import { s3Request } from "./s3-request.ts";
import { readS3Version, s3History } from "./s3-versions.ts";

/**
 * A state in a bucket. State and lock are changed by conditional writes alone, so that a stale one is refused by the service
 * itself; the lock is a lease, and the service's clock decides whether it has run out. Throws `state-unsuitable` and
 * `url-*` for options that cannot be. Sends nothing by itself.
 */
export function createS3Driver(config: S3StoreConfig, credentials: AwsCredentials): StateDriver {
  const addresses = s3Addresses(config);
  const { key } = config;
  const { where, lockKey } = addresses;
  const { send, close } = openSender(config);
  const request = s3Request(send, credentials, addresses);
  const lock = s3Lock(request, lockKey, where);
  /** Unknown until it was tried: then no lock is deleted, and one that was given back stays as an object. */
  let abilities: S3Abilities = { deletesByEtag: false };
  let isProven = false;
  /** No run begins on a service that would let a second one in. */
  const prove = async (lease: Lease): Promise<void> => {
    if (isProven) return;
    try {
      await proveLock(request, { key: lockKey, record: lockRecord(lease.holder, where) }, where);
    } catch (error) {
      if (isGraphformError(error) && error.code === "state-unsuitable")
        await lock.release(lease, false).catch(() => undefined);
      throw error;
    }
    isProven = true;
  };
  const probe = async (): Promise<void> => {
    abilities = await probeS3(request, key, where);
    isProven = true;
  };
  return {
    where,
    expires: true,
    read: () => readS3(request, key, where),
    write: (text, expected) => writeS3(request, { key, text, expected }, where),
    async take(holder) {
      const taken = await lock.take(holder);
      if (taken.is === "taken") await prove(taken.lease);
      return taken;
    },
    renew: lock.renew,
    release: (lease) => lock.release(lease, abilities.deletesByEtag),
    holder: lock.holder,
    remove: lock.remove,
    prepare: probe,
    probe,
    history: (limit) => s3History(request, key, where, limit),
    readVersion: (id) => readS3Version(request, { key, id }, where),
    close,
  };
}
