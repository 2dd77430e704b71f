/** @module Defines the result of one of several manifests that one command works on. */
import { type ExitCode, exitCodes, type GraphformError, worseExit } from "../../model/errors.ts";

/** The result of one manifest, or the error that kept it from being made. */
export type ManifestResult<T> = {
  /** Folder as the command line names it. */
  readonly folder: string;
  /** Name of the manifest, empty where it could not be read. */
  readonly name: string;
} & ({ readonly is: "made"; readonly value: T } | { readonly is: "failed"; readonly error: GraphformError });

/** A result that was made. */
export type Made<T> = Extract<ManifestResult<T>, { readonly is: "made" }>;

/** The results that were made, in their order. */
export function madeOf<T>(results: readonly ManifestResult<T>[]): readonly Made<T>[] {
  return results.filter((result): result is Made<T> => result.is === "made");
}

/**
 * The exit code of one manifest alone: 2 where it differs, the code of its error where it failed. That of several is the worst of them.
 */
export function exitOf<T>(result: ManifestResult<T>, differs: (value: T) => boolean): ExitCode {
  if (result.is === "made") return differs(result.value) ? exitCodes.changes : exitCodes.done;
  return result.error.exitCode;
}

/** The one exit code of several manifests: that of an error wins over 2, and 2 over 0. */
export function exitOfAll<T>(
  results: readonly ManifestResult<T>[],
  differs: (value: T) => boolean,
): ExitCode {
  return worseExit(results.map((result) => exitOf(result, differs)));
}
