/** @module Builds the addresses of a bucket's objects, in path style and in virtual host style. */

import { GraphformError } from "../../../model/errors.ts";
import { formBroken, keyRefusal } from "../../../model/store-forms.ts";
import { endpointRefusal } from "../../../model/store-url.ts";
import { mayHoldLogin } from "../../../model/userinfo.ts";
import { unsuitable } from "../wire/refusals.ts";
import { assertNone } from "../wire/send.ts";

/** Options of a state in a bucket. */
export interface S3StoreConfig {
  readonly bucket: string;
  /** The key of the state; its lock is `<key>.lock`. */
  readonly key: string;
  /** Default `us-east-1`. */
  readonly region?: string;
  /** Address of another service than AWS. */
  readonly endpoint?: string;
  /** `endpoint/bucket/key` instead of `bucket.endpoint/key`. Default: with an endpoint, and for buckets with dots. */
  readonly pathStyle?: boolean;
  /** Longest time for one request, in ms. Default 30 s. */
  readonly timeout?: number;
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string;
}

/** The addresses in one bucket. */
export interface S3Addresses {
  readonly region: string;
  /** The address, as `--state` takes it; without the region. */
  readonly where: string;
  /** The key of the lock. */
  readonly lockKey: string;
  /** The address of an object, or of the bucket itself. */
  url(key: string | undefined, query?: { readonly [name: string]: string }): URL;
}

/** Throws `state-unsuitable` for names that cannot be, and `url-*` for an endpoint that must not be used. */
export function s3Addresses(config: S3StoreConfig): S3Addresses {
  const { bucket, key, region = "us-east-1", endpoint } = config;
  const where = mayHoldLogin(bucket) ? "s3" : `s3://${bucket}/${key.replaceAll("@", "%40")}`;
  for (const [name, value] of Object.entries({ bucket, region })) {
    const form = formBroken(name, value);
    if (form !== undefined)
      throw unsuitable(where, `has a ${name} that cannot be one`, `it must be ${form.is}`);
  }
  const refusal = keyRefusal(key);
  if (refusal !== undefined)
    throw new GraphformError("state-unsuitable", refusal.message, { hint: refusal.hint });
  if (endpoint !== undefined) assertNone(endpointRefusal(endpoint));
  const base = new URL(endpoint ?? `https://s3.${region}.${domainOf(region)}`);
  const isPathStyle = config.pathStyle ?? (endpoint !== undefined || bucket.includes("."));
  const prefix = base.pathname.replace(/\/$/, "");
  return {
    region,
    where: endpoint === undefined ? where : `${where}?endpoint=${base.origin}${prefix}`,
    lockKey: `${key}.lock`,
    url(object, query = {}) {
      const url = new URL(base);
      if (!isPathStyle) url.hostname = `${bucket}.${base.hostname}`;
      const path = [...(isPathStyle ? [bucket] : []), ...(object?.split("/") ?? [])];
      url.pathname = `${prefix}/${path.map(encode).join("/")}`;
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      return url;
    },
  };
}

function domainOf(region: string): string {
  return region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}

/** The spelling that signatures are made over: all but letters, digits and `-._~` is escaped. */
function encode(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
