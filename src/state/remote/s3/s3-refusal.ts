/** @module Names the refusals of an S3 service. */

import { XMLParser } from "fast-xml-parser";
import type { GraphformError } from "../../../model/errors.ts";
import { isObject, type JsonObject } from "../../../model/json.ts";
import { busyOr, denied, unreachable, unsuitable } from "../wire/refusals.ts";
import type { StoreAnswer } from "../wire/send.ts";

/**
 * Codes that are repeated in messages, with the way out. Other words of the service are not: they may hold what was sent,
 * and the credential with it.
 */
const hints: { readonly [code: string]: string } = {
  AccessDenied:
    "the credentials need s3:GetObject, s3:PutObject and s3:DeleteObject on the key and on its .lock (state init and doctor: also on its .probe-*), and s3:ListBucket on the bucket: without that an object that is absent cannot be told from one that is denied",
  AllAccessDisabled: "somebody has switched the bucket off",
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

/** The code in an answer's XML, where it is one that is known; empty otherwise. */
export function s3Code({ status, body }: StoreAnswer): string {
  if (status < 300 || body.length > 100_000) return "";
  const code = textOf(element(body.toString("utf8"), "Error"), "Code") ?? "";
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

/** The members of an element at a path; empty where there is none, or the text is no XML. */
export function element(xml: string, ...path: readonly string[]): JsonObject {
  try {
    let value: unknown = parser.parse(xml);
    for (const name of path) value = isObject(value) ? value[name] : undefined;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The text of a member; undefined where there is none. */
export function textOf(members: JsonObject, name: string): string | undefined {
  const value = members[name];
  return typeof value === "string" ? value : undefined;
}

/** The members of that name that are elements: one alone is no list in XML. */
export function elementsOf(members: JsonObject, name: string): readonly JsonObject[] {
  const value = members[name];
  return (Array.isArray(value) ? value : [value]).filter(isObject);
}
