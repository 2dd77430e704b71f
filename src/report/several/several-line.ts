/** @module Counts the results of several manifests in one line. */
import { amount } from "../amounts.ts";
import type { ManifestResult } from "./manifest-result.ts";

/** Numbers of several results. */
export interface SeveralCounts {
  readonly manifests: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: number;
}

/** Counts results; `differs` says which of those that were made have something to show. */
export function countSeveral<T>(
  results: readonly ManifestResult<T>[],
  differs: (value: T) => boolean,
): SeveralCounts {
  const failed = results.filter(({ is }) => is === "failed").length;
  const changed = results.filter((result) => result.is === "made" && differs(result.value)).length;
  const manifests = results.length;
  return { manifests, changed, unchanged: manifests - changed - failed, failed };
}

/** The last line of a command on several manifests: `3 manifests: 1 with changes, 2 without.` Its form is stable. */
export function severalLine(
  { manifests, changed, unchanged, failed }: SeveralCounts,
  what: "changes" | "drift",
): string {
  const parts = [
    ...(changed === 0 ? [] : [`${changed} with ${what}`]),
    ...(unchanged === 0 ? [] : [`${unchanged} without${changed === 0 ? ` ${what}` : ""}`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ];
  return `${amount(manifests, "manifest")}: ${parts.join(", ")}.`;
}
