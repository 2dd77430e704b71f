/** @module Reads and writes the document of a state in a bucket, with conditions on its ETag, and its earlier versions. */
import { GraphformError } from "../../../model/errors.ts";
import { defined, textIn } from "../../../model/json.ts";
import { versionIn } from "../../document.ts";
import type { StoredVersion } from "../../store.ts";
import type { StateDriver } from "../driver.ts";
import type { StoreAnswer } from "../store-http.ts";
import { unsuitable } from "../store-refusals.ts";
import { element, elementsOf, type S3Request, s3Code, s3Refusal } from "./s3-request.ts";

/** Metadata under which a version shows its serial without being read. */
const serialHeader = "x-amz-meta-serial";

/** True for the 404 of an object, which is not that of a bucket. */
export function isAbsent(answer: StoreAnswer): boolean {
  return answer.status === 404 && s3Code(answer) !== "NoSuchBucket";
}

export function etagOf({ headers }: StoreAnswer, where: string): string {
  const etag = headers["etag"];
  if (etag !== undefined && etag !== "") return etag;
  throw unsuitable(
    where,
    "shows no ETag, without which a stale write cannot be refused",
    "use another service, or none in between",
  );
}

/** The most versions that are shown: each takes a request for its serial. */
const shown = 100;

const width = 8;

interface Version {
  readonly id: string;
  readonly savedAt: string;
}

/** The document of a state at a key. The service compares the ETag and stores in one step. */
export function s3Objects(
  request: S3Request,
  key: string,
  where: string,
): Pick<StateDriver, "read" | "write" | "history" | "readVersion"> {
  /** Lists until there are enough. The list has all keys that begin with this one, in order, versions newest first. */
  const listVersions = async (limit: number): Promise<readonly Version[]> => {
    const found: Version[] = [];
    let marker: { readonly [name: string]: string } | undefined = {};
    while (marker !== undefined && found.length < limit) {
      const query: { readonly [name: string]: string } = { versions: "", prefix: key, ...marker };
      const answer = await request({ method: "GET", query });
      // A service that has no such request keeps no versions.
      if (answer.status === 405 || answer.status === 501) return [];
      if (answer.status !== 200) throw s3Refusal(answer, "list versions", where);
      const list = element(answer.body.toString("utf8"), "ListVersionsResult");
      for (const version of elementsOf(list, "Version")) {
        const [id, savedAt] = [textIn(version["VersionId"]), textIn(version["LastModified"])];
        if (textIn(version["Key"]) === key && id !== undefined && savedAt !== undefined)
          found.push({ id, savedAt: new Date(savedAt).toISOString() });
      }
      const next = {
        "key-marker": textIn(list["NextKeyMarker"]),
        "version-id-marker": textIn(list["NextVersionIdMarker"]),
      };
      const isOver = textIn(list["IsTruncated"]) !== "true" || next["key-marker"] !== key;
      marker = isOver ? undefined : defined(next);
    }
    return found.slice(0, limit);
  };
  const serialOf = async ({ id }: Version): Promise<number | undefined> => {
    const answer = await request({ method: "HEAD", key, query: { versionId: id } });
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw s3Refusal(answer, "look at a version", where);
    const serial = Number(answer.headers[serialHeader] ?? "none");
    return Number.isSafeInteger(serial) ? serial : undefined;
  };

  return {
    async read() {
      const answer = await request({ method: "GET", key });
      if (isAbsent(answer)) return undefined;
      if (answer.status !== 200) throw s3Refusal(answer, "read", where);
      return { text: answer.body.toString("utf8"), version: etagOf(answer, where) };
    },
    async write(text, expected) {
      const { serial } = versionIn(text);
      const headers = {
        ...(expected === undefined ? { "if-none-match": "*" } : { "if-match": expected }),
        ...(serial === 0 ? {} : { [serialHeader]: String(serial) }),
      };
      const answer = await request({ method: "PUT", key, headers, body: text });
      if (answer.status === 200) return { is: "written", version: etagOf(answer, where) };
      // 404 answers If-Match on an object that is gone.
      if (answer.status === 412 || (expected !== undefined && isAbsent(answer))) return { is: "stale" };
      throw s3Refusal(answer, "write", where);
    },
    /** Undefined if the bucket keeps none. Leaves out versions that were not written by graphform, and show no serial. */
    async history(limit = shown) {
      const versions = await listVersions(limit);
      if (versions.every(({ id }) => id === "null")) return undefined;
      const found: StoredVersion[] = [];
      for (let at = 0; at < versions.length; at += width) {
        const some = versions.slice(at, at + width);
        const serials = await Promise.all(some.map(serialOf));
        found.push(
          ...some.flatMap((version, index) => {
            const serial = serials[index];
            return serial === undefined ? [] : [{ ...version, serial }];
          }),
        );
      }
      return found;
    },
    async readVersion(id) {
      const answer = await request({ method: "GET", key, query: { versionId: id } });
      // A text that cannot be an id of this service is a 400 without a code that is known here.
      const code = s3Code(answer);
      if (code === "NoSuchVersion" || (answer.status === 400 && code === ""))
        throw new GraphformError("version-unknown", `the state ${where} has no version ${id}`, {
          hint: "graphform state history lists them",
        });
      if (answer.status !== 200) throw s3Refusal(answer, "read a version", where);
      return answer.body.toString("utf8");
    },
  };
}
