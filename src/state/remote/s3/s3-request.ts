/** @module Sends signed requests to a bucket of an S3 service, and names its refusals. */
import { AwsV4Signer } from "aws4fetch";
import { XMLParser } from "fast-xml-parser";
import { GraphformError } from "../../../model/errors.ts";
import { defined, isObject, type JsonObject, textIn } from "../../../model/json.ts";
import { endpointRefusal, keyRefusal, type S3Location, s3Forms } from "../../../model/stores/s3.ts";
import { mayHoldLogin } from "../../../model/userinfo.ts";
import { digestOf } from "../../document.ts";
import type { Send, SenderOptions, StoreAnswer } from "../store-http.ts";
import { assertNone, busyOr, denied, unreachable, unsuitable } from "../store-refusals.ts";

export interface S3StoreConfig extends Omit<S3Location, "type">, SenderOptions {}

export interface S3Addresses {
  readonly region: string;
  /** The address, as `--state` takes it; without the region. */
  readonly where: string;
  readonly lockKey: string;
  /** The address of an object, or of the bucket itself. */
  url(key: string | undefined, query?: { readonly [name: string]: string }): URL;
}

/** Throws `state-unsuitable` for names that cannot be, and `url-*` for an endpoint that must not be used. */
export function s3Addresses(config: S3StoreConfig): S3Addresses {
  const { bucket, key, region = "us-east-1", endpoint } = config;
  const where = mayHoldLogin(bucket) ? "s3" : `s3://${bucket}/${key.replaceAll("@", "%40")}`;
  for (const [name, form, value] of [
    ["bucket", s3Forms.bucket, bucket],
    ["region", s3Forms.region, region],
  ] as const)
    if (!form.pattern.test(value))
      throw unsuitable(where, `has a ${name} that cannot be one`, `it must be ${form.is}`);
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

export function domainOf(region: string): string {
  return region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}

/** The spelling that signatures are made over: all but letters, digits and `-._~` is escaped. */
function encode(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A request to an object of the bucket, or to the bucket itself if there is no key. */
export interface S3Call {
  readonly method: "GET" | "HEAD" | "PUT" | "DELETE";
  readonly key?: string;
  readonly query?: { readonly [name: string]: string };
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
}

/** Sends one request; any status is an answer. */
export type S3Request = (call: S3Call) => Promise<StoreAnswer>;

/** Makes the function that sends. If the session of the keys has ended they are fetched again, and the request, which did nothing, is repeated. */
export function s3Request(send: Send, credentials: AwsCredentials, addresses: S3Addresses): S3Request {
  /** Keys for signing, by secret, day and region. */
  const cache = new Map<string, ArrayBuffer>();
  const once = async (call: S3Call, keys: AwsKeys): Promise<StoreAnswer> => {
    const { method, key, query, headers = {}, body } = call;
    const bytes = Buffer.from(body ?? "");
    const url = addresses.url(key, query);
    const { accessKeyId, secretAccessKey, sessionToken } = keys;
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: {
        ...headers,
        "x-amz-content-sha256": digestOf(bytes),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      accessKeyId,
      secretAccessKey,
      ...defined({ sessionToken }),
      service: "s3",
      region: addresses.region,
      cache,
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

/** A pair of keys, of a session if there is a token. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** The end of the session, in ms since 1970; undefined if it has none, or none that is known. */
  readonly expires?: number;
}

/** Gives the keys for a request. `fresh`: those before were refused as expired. Rejects with `state-denied`. */
export type AwsCredentials = (fresh?: boolean) => Promise<AwsKeys>;

/** Codes that messages repeat, with the remedy. Other words of the service may hold what was sent, and the credential with it. */
const hints: { readonly [code: string]: string } = {
  AccessDenied:
    "the credentials need s3:GetObject, s3:PutObject and s3:DeleteObject on the key and on its .lock (state init and doctor: also on its .probe-*), and s3:ListBucket on the bucket: without that an object that is absent cannot be told from one that is denied",
  AllAccessDisabled: "the bucket was switched off",
  ExpiredToken: "the session of the credentials has ended; fetch new ones and run the command again",
  ExpiredTokenException: "the session of the credentials has ended; fetch new ones and run the command again",
  InvalidAccessKeyId: "the service does not know this access key; check AWS_ACCESS_KEY_ID and the endpoint",
  InvalidToken: "check AWS_SESSION_TOKEN: it belongs to the same session as the keys",
  RequestTimeTooSkewed: "the clock of this machine is off by more than 15 minutes; set it",
  SignatureDoesNotMatch: "check AWS_SECRET_ACCESS_KEY and the region",
  AuthorizationHeaderMalformed: "check the region of the bucket",
  PermanentRedirect: "check the region of the bucket",
  IllegalLocationConstraintException: "check the region of the bucket",
  NoSuchBucket: "make the bucket first, or check its name and the endpoint",
  NoSuchKey: "the object was there a moment ago; run the command again",
  NoSuchVersion: "the bucket does not have this version any more",
  NotImplemented:
    "the service must know If-Match and If-None-Match on PUT; use a newer version of it, or another kind of store",
  ConditionalRequestConflict: "another request for the same object was in progress; run the command again",
  OperationAborted: "another request for the same bucket was in progress; run the command again",
  SlowDown: "the service asks for fewer requests; run the command again in a minute",
};

const deniedCodes: ReadonlySet<string> = new Set([
  ...["ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired", "InvalidAccessKeyId"],
  ...["SignatureDoesNotMatch", "RequestTimeTooSkewed", "AccessDenied", "AllAccessDisabled"],
]);

/** The code in an answer's XML, if it is one that is known; empty otherwise. */
export function s3Code({ status, body }: StoreAnswer): string {
  if (status < 300 || body.length > 100_000) return "";
  const code = textIn(element(body.toString("utf8"), "Error")["Code"]) ?? "";
  return Object.hasOwn(hints, code) || deniedCodes.has(code) ? code : "";
}

/** The error of an answer that is none of those that a request expects. */
export function s3Refusal(answer: StoreAnswer, what: string, where: string): GraphformError {
  const { status, headers } = answer;
  const code = s3Code(answer);
  const said = `(${[what, status, ...(code === "" ? [] : [code])].join(", ")})`;
  const hint = hints[code];
  const region = headers["x-amz-bucket-region"] ?? "";
  if (/^[a-z]{2}(-[a-z]{3,10}){1,3}-\d{1,2}$/.test(region) && status >= 300)
    return unsuitable(where, `is in another region ${said}`, `set region: ${region}`);
  if (status === 401 || status === 403 || deniedCodes.has(code))
    return denied(
      where,
      `refuses the credentials or gives no right ${said}`,
      hint ?? hints["AccessDenied"] ?? "",
    );
  if (status === 409) return unreachable(where, `is busy with the same object ${said}`, hint);
  if ((status >= 500 && status !== 501) || status === 429 || status === 408)
    return busyOr(where, `gives no answer that counts ${said}`, headers, hint);
  return unsuitable(where, `answers what a store of states does not ${said}`, hint);
}

/** Values stay texts: a version id of digits is no number. */
const parser = new XMLParser({ ignoreAttributes: true, parseTagValue: false, processEntities: true });

/** The members of an element at a path; empty if there is none, or the text is no XML. */
export function element(xml: string, ...path: readonly string[]): JsonObject {
  try {
    let value: unknown = parser.parse(xml);
    for (const name of path) value = isObject(value) ? value[name] : undefined;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The members of that name that are elements: one alone is no list in XML. */
export function elementsOf(members: JsonObject, name: string): readonly JsonObject[] {
  const value = members[name];
  return (Array.isArray(value) ? value : [value]).filter(isObject);
}
