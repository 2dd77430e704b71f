/** @module Reads and writes the document of a state in a bucket, with conditions on its ETag. */
import type { Stored, Written } from "../driver.ts";
import { serialOf } from "../wire/lock-info.ts";
import { unsuitable } from "../wire/refusals.ts";
import type { StoreAnswer } from "../wire/send.ts";
import { s3Code, s3Refusal } from "./s3-refusal.ts";
import type { S3Request } from "./s3-request.ts";

/** Metadata under which a version shows its serial without being read. */
export const serialHeader = "x-amz-meta-serial";

/** The stored object; undefined where there is none. */
export async function readS3(request: S3Request, key: string, where: string): Promise<Stored | undefined> {
  const answer = await request({ method: "GET", key });
  if (isAbsent(answer)) return undefined;
  if (answer.status !== 200) throw s3Refusal(answer, "read", where);
  return { text: answer.body.toString("utf8"), version: etagOf(answer, where) };
}

/**
 * Stores an object in place of the one with the expected ETag, or where there is none. The service compares and stores in
 * one step.
 */
export async function writeS3(
  request: S3Request,
  {
    key,
    text,
    expected,
  }: { readonly key: string; readonly text: string; readonly expected: string | undefined },
  where: string,
): Promise<Written> {
  const serial = serialOf(text);
  const answer = await request({
    method: "PUT",
    key,
    headers: {
      ...(expected === undefined ? { "if-none-match": "*" } : { "if-match": expected }),
      ...(serial === undefined ? {} : { [serialHeader]: String(serial) }),
    },
    body: text,
  });
  if (answer.status === 200) return { is: "written", version: etagOf(answer, where) };
  // 404 answers If-Match on an object that is gone.
  if (answer.status === 412 || (expected !== undefined && isAbsent(answer))) return { is: "stale" };
  throw s3Refusal(answer, "write", where);
}

/** True for the 404 of an object, which is not that of a bucket. */
export function isAbsent(answer: StoreAnswer): boolean {
  return answer.status === 404 && s3Code(answer) !== "NoSuchBucket";
}

/** The ETag of an object that was read or stored. */
export function etagOf({ headers }: StoreAnswer, where: string): string {
  const etag = headers["etag"];
  if (etag !== undefined && etag !== "") return etag;
  throw unsuitable(
    where,
    "shows no ETag, without which a stale write cannot be refused",
    "use another service, or none in between",
  );
}
