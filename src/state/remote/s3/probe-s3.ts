/** @module Tries whether an S3 service refuses the writes that it must refuse: some ignore the conditions in silence. */
import { randomBytes } from "node:crypto";
import type { GraphformError } from "../../../model/errors.ts";
import { unsuitable } from "../wire/refusals.ts";
import type { StoreAnswer } from "../wire/send.ts";
import { etagOf } from "./s3-document.ts";
import { s3Refusal } from "./s3-refusal.ts";
import type { S3Request } from "./s3-request.ts";

/** Abilities of a service beyond those that it must have. */
export interface S3Abilities {
  /** It refuses to delete an object whose ETag is not the expected one. */
  readonly deletesByEtag: boolean;
}

/** An ETag that no object of the probe has. */
const wrongEtag = `"${"0".repeat(32)}"`;

/**
 * Puts an object of its own beside the state: twice with `If-None-Match: *`, once with a wrong ETag and once with the right
 * one, and deletes it with a wrong ETag and without one. Rejects with `state-unsuitable`, naming the server, where a
 * condition is ignored.
 */
export async function probeS3(request: S3Request, key: string, where: string): Promise<S3Abilities> {
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
    return { deletesByEtag: kept.status === 412 };
  } finally {
    // A right to delete is not needed for anything else: a probe that stays does no harm.
    await request({ method: "DELETE", key: probe });
  }
}

/**
 * Tries the same on a lock that was just taken, which needs no right to any other object. Rejects with `state-unsuitable`;
 * the lock is still there then.
 */
export async function proveLock(
  request: S3Request,
  { key, record }: { readonly key: string; readonly record: string },
  where: string,
): Promise<void> {
  for (const [name, value] of [
    ["If-None-Match", "*"],
    ["If-Match", wrongEtag],
  ] as const) {
    const headers = { [name.toLowerCase()]: value };
    assertRefused(await request({ method: "PUT", key, headers, body: record }), name, where);
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
