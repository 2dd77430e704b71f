/** @module Creates the driver of a state in a bucket of S3, or of a service that speaks its protocol. */
import { randomBytes } from "node:crypto";
import { type GraphformError, isGraphformError } from "../../../model/errors.ts";
import { defined } from "../../../model/json.ts";
import { placedBy, type S3Location } from "../../../model/stores/s3.ts";
import type { Lease, OpenDriver, StateDriver } from "../driver.ts";
import { openSender, type StoreAnswer } from "../store-http.ts";
import { unsuitable } from "../store-refusals.ts";
import { awsCredentials } from "./aws-credentials.ts";
import { lockRecord, s3Lock } from "./s3-lock.ts";
import { etagOf, s3Objects } from "./s3-objects.ts";
import {
  type AwsCredentials,
  type S3Request,
  type S3StoreConfig,
  s3Addresses,
  s3Refusal,
  s3Request,
} from "./s3-request.ts";

export const openDriver: OpenDriver<S3Location> = (location, { variable, environment, ca }) => {
  const { type: _, ...placed } = placedBy(location, variable);
  const trusted = defined({ ca });
  const credentials = awsCredentials({
    ...{ environment: environment(), ...trusted },
    ...defined({ region: placed.region }),
  });
  return createS3Driver({ ...placed, ...trusted }, credentials);
};

/**
 * A state in a bucket. Conditional writes alone change state and lock, so that the service itself refuses a stale one; the service's clock
 * decides whether the lease has run out. Throws `state-unsuitable` and `url-*` for options that cannot be.
 */
export function createS3Driver(config: S3StoreConfig, credentials: AwsCredentials): StateDriver {
  const addresses = s3Addresses(config);
  const { key } = config;
  const { where, lockKey } = addresses;
  const { send, close } = openSender(config);
  const request = s3Request(send, credentials, addresses);
  const lock = s3Lock(request, lockKey, where);
  /** True if the service refuses to delete an object of another ETag. Until that was tried, a lock that was given back stays as an object. */
  let deletesByEtag = false;
  let isProven = false;
  /** No run begins on a service that would let a second one in. */
  const prove = async (lease: Lease): Promise<void> => {
    if (isProven) return;
    const body = lockRecord(lease.holder, where);
    const put = (headers: { readonly [name: string]: string }): Promise<StoreAnswer> =>
      request({ method: "PUT", key: lockKey, headers, body });
    try {
      // The same as `probeS3`, on the lock itself: that needs no right to any other object.
      assertRefused(await put({ "if-none-match": "*" }), "If-None-Match", where);
      assertRefused(await put({ "if-match": wrongEtag }), "If-Match", where);
    } catch (error) {
      if (isGraphformError(error) && error.code === "state-unsuitable")
        await lock.release(lease, false).catch(() => undefined);
      throw error;
    }
    isProven = true;
  };
  const probe = async (): Promise<void> => {
    deletesByEtag = await probeS3(request, key, where);
    isProven = true;
  };
  return {
    where,
    expires: true,
    ...s3Objects(request, key, where),
    async take(holder) {
      const taken = await lock.take(holder);
      if (taken.is === "taken") await prove(taken.lease);
      return taken;
    },
    renew: lock.renew,
    release: (lease) => lock.release(lease, deletesByEtag),
    holder: lock.holder,
    remove: lock.remove,
    prepare: probe,
    probe,
    close,
  };
}

/** An ETag that no object of the probe has. */
const wrongEtag = `"${"0".repeat(32)}"`;

/**
 * Puts an object of its own beside the state: twice with `If-None-Match: *`, with a wrong ETag and with the right one, and deletes it with a
 * wrong ETag (true if that is refused) and without one. Rejects with `state-unsuitable`, naming the server, if a condition is ignored.
 */
async function probeS3(request: S3Request, key: string, where: string): Promise<boolean> {
  const probe = `${key}.probe-${randomBytes(6).toString("hex")}`;
  const put = (body: string, headers: { readonly [name: string]: string }): Promise<StoreAnswer> =>
    request({ method: "PUT", key: probe, headers, body });
  const first = await put("1", { "if-none-match": "*" });
  if (first.status !== 200) throw s3Refusal(first, "write a probe", where);
  try {
    assertRefused(await put("2", { "if-none-match": "*" }), "If-None-Match", where);
    assertRefused(await put("3", { "if-match": wrongEtag }), "If-Match", where);
    const fitting = await put("4", { "if-match": etagOf(first, where) });
    if (fitting.status !== 200) throw s3Refusal(fitting, "replace a probe", where);
    const kept = await request({ method: "DELETE", key: probe, headers: { "if-match": wrongEtag } });
    return kept.status === 412;
  } finally {
    // A right to delete is not needed for anything else: a probe that stays does no harm.
    await request({ method: "DELETE", key: probe });
  }
}

function assertRefused(answer: StoreAnswer, condition: string, where: string): void {
  if (answer.status === 412) return;
  if (answer.status >= 300) throw s3Refusal(answer, `write a probe with ${condition}`, where);
  throw ignored(answer, condition, where);
}

function ignored({ headers }: StoreAnswer, condition: string, where: string): GraphformError {
  const name = headers["server"] ?? "";
  const server = /^[A-Za-z][A-Za-z ]{1,30}(\/[\d.]{1,15})?$/.test(name)
    ? ` (its server calls itself ${name})`
    : "";
  return unsuitable(
    where,
    `stores what it must refuse: it ignores ${condition}${server}`,
    "two runs at once would overwrite each other; use a newer version of the service, or another kind of store",
  );
}
