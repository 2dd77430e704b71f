/** @module Reads and writes the document of a state over Terraform's protocol. */
import { createHash } from "node:crypto";
import type { Stored, Written } from "../driver.ts";
import { denied, unsuitable } from "../wire/refusals.ts";
import type { StoreAnswer } from "../wire/send.ts";
import { serialOf } from "../wire/serial-of.ts";
import { type HttpAddresses, withId } from "./http-addresses.ts";
import { assertNoPage, type HttpRequest, httpRefusal } from "./http-request.ts";

/** The stored document; undefined for 204, 404 and an empty one. GitLab: a project that is not shown is no empty state. */
export async function readHttp(request: HttpRequest, addresses: HttpAddresses): Promise<Stored | undefined> {
  const answer = await request("GET", addresses.state);
  if (answer.status === 204 || isNone(answer, addresses)) return undefined;
  const text = answer.body.toString("utf8");
  if (answer.status !== 200) throw httpRefusal(answer, "read the state", addresses);
  // A plain server may call every file a page.
  assertNoPage({ ...answer, headers: {} }, "read the state", addresses.where);
  return text === "" ? undefined : { text, version: versionOf(text) };
}

/** True where the server has no record of the state, not even an empty one. Rejects as `readHttp` does. */
export async function isAbsent(request: HttpRequest, addresses: HttpAddresses): Promise<boolean> {
  const answer = await request("GET", addresses.state);
  if (answer.status === 401 || answer.status === 403) throw httpRefusal(answer, "read the state", addresses);
  return isNone(answer, addresses);
}

/** True for 404, but not for that of a project that is not shown: rejects. */
function isNone(answer: StoreAnswer, addresses: HttpAddresses): boolean {
  if (answer.status !== 404) return false;
  if (addresses.dialect === "gitlab" && /project not found/i.test(answer.body.toString("utf8")))
    throw httpRefusal(answer, "read the state", addresses);
  return true;
}

/**
 * Stores a document where the expected version is stored. The protocol compares nothing, so that this reads before it
 * writes, and twice where nothing is expected: between the two, only the lock keeps others out. A server that sees the lock in other hands refuses with 409 or
 * 423, which is `stale`: nothing was changed. Rejects with `state-unsuitable` where the first document cannot be read again.
 */
export async function writeHttp(
  request: HttpRequest,
  addresses: HttpAddresses,
  {
    text,
    expected,
    id,
  }: { readonly text: string; readonly expected: string | undefined; readonly id: string },
): Promise<Written> {
  if (id === "")
    throw denied(
      addresses.where,
      "is not locked, and nothing is written without its lock",
      "take the lock first",
    );
  const stored = await readHttp(request, addresses);
  if (stored?.version !== expected) return { is: "stale" };
  // Nothing is no version: a server that has just lost sight of its state looks the same. A document that shows up is never replaced.
  if (expected === undefined && (await readHttp(request, addresses)) !== undefined) return { is: "stale" };
  const answer = await request(addresses.updateMethod, withId(addresses.state, id), text);
  if ([200, 201, 204].includes(answer.status)) {
    assertNoPage(answer, "write the state", addresses.where);
    return readBack(request, addresses, text, expected);
  }
  if ([409, 412, 423].includes(answer.status)) return { is: "stale" };
  throw httpRefusal(answer, "write the state", addresses);
}

/**
 * The end of a write that was taken. A first one is read back: on a server that shows nothing of what it takes, every run would
 * find no state, and create everything once more.
 */
async function readBack(
  request: HttpRequest,
  addresses: HttpAddresses,
  text: string,
  expected: string | undefined,
): Promise<Written> {
  const version = versionOf(text);
  if (expected !== undefined) return { is: "written", version };
  const stored = await readHttp(request, addresses);
  if (stored === undefined)
    throw unsuitable(
      addresses.where,
      "took a document and shows none: it cannot be read again, and what stood there unseen may have been replaced",
      "let these credentials read at this address, and have what stood there put back where there was something; then run the command again",
    );
  return stored.version === version ? { is: "written", version } : { is: "stale" };
}

/** The serial and a digest: a serial alone could be that of another history. */
function versionOf(text: string): string {
  return `${serialOf(text) ?? "none"}-${createHash("sha256").update(text).digest("hex")}`;
}
