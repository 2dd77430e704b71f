/** @module Formats the results of several manifests as one JSON document. */
import type { GraphformError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { ManifestResult } from "./manifest-result.ts";

/** Version of the document. A reader ignores keys that it does not know, and refuses another major version. */
const formatVersion = "1.0";

/** The documents of each manifest alone, from which that of all is made. */
interface Documents<T> {
  /** Key of the document in its project. */
  readonly key: "plan" | "drift" | "validation";
  readonly exit: (result: ManifestResult<T>) => number;
  readonly made: (value: T) => JsonObject;
  readonly failed: (error: GraphformError) => JsonObject;
  readonly summary: JsonObject;
}

/** `projects`, in the order of the command line, each with the document that the command prints for it alone, and counts. */
export function severalJson<T>(
  results: readonly ManifestResult<T>[],
  { key, exit, made, failed, summary }: Documents<T>,
): JsonObject {
  return {
    format_version: formatVersion,
    projects: results.map((result) => ({
      folder: result.folder,
      exit_code: exit(result),
      [key]: result.is === "made" ? made(result.value) : failed(result.error),
    })),
    summary,
  };
}
