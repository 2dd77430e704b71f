/** @module Sends signed requests to an S3 service. */

import { AwsV4Signer } from "aws4fetch";
import { defined } from "../../../model/json.ts";
import type { Send, StoreAnswer } from "../wire/send.ts";
import type { S3Addresses } from "./s3-address.ts";
import { s3Code } from "./s3-refusal.ts";

/** A request to an object of the bucket, or to the bucket itself where there is no key. */
export interface S3Call {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  readonly key?: string;
  readonly query?: { readonly [name: string]: string };
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
}

/** Sends one request; any status is an answer. */
export type S3Request = (call: S3Call) => Promise<StoreAnswer>;

/**
 * Makes the function that sends. The body is part of the signature. Keys whose session has ended are fetched again, and the
 * request, which did nothing, is sent once more.
 */
export function s3Request(send: Send, credentials: AwsCredentials, addresses: S3Addresses): S3Request {
  // Keys for signing, derived from a secret, a day and a region.
  let derived = { secret: "", keys: new Map<string, ArrayBuffer>() };
  const once = async (call: S3Call, keys: AwsKeys): Promise<StoreAnswer> => {
    const { method, key, query, headers = {}, body } = call;
    if (derived.secret !== keys.secretAccessKey)
      derived = { secret: keys.secretAccessKey, keys: new Map<string, ArrayBuffer>() };
    const bytes = Buffer.from(body ?? "");
    const url = addresses.url(key, query);
    const { accessKeyId, secretAccessKey, sessionToken } = keys;
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: {
        ...headers,
        "x-amz-content-sha256": await sha256(bytes),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      accessKeyId,
      secretAccessKey,
      ...defined({ sessionToken }),
      service: "s3",
      region: addresses.region,
      cache: derived.keys,
    });
    const signed = await signer.sign();
    return send({
      method,
      url,
      headers: { "user-agent": "graphform", ...Object.fromEntries(signed.headers) },
      ...(body === undefined ? {} : { body: bytes }),
    });
  };
  return async (call) => {
    const answer = await once(call, await credentials());
    return sessionEnded.has(s3Code(answer)) ? once(call, await credentials(true)) : answer;
  };
}

const sessionEnded: ReadonlySet<string> = new Set([
  "ExpiredToken",
  "ExpiredTokenException",
  "TokenRefreshRequired",
]);

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
}

/** A pair of keys, of a session where there is a token. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** The end of the session, in ms since 1970; undefined where it has none, or none that is known. */
  readonly expires?: number;
}

/** Gives the keys for a request. `fresh`: those before were refused as expired. Rejects with `state-denied`. */
export type AwsCredentials = (fresh?: boolean) => Promise<AwsKeys>;
