/** @module Runs one check of `doctor`, and turns what is thrown into a finding with the way out. */
import { ManifestError, ownError } from "../model/errors.ts";
import type { Hide } from "../model/known-secrets.ts";
import { amount } from "../report/amounts.ts";

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** Way to fix it, if it failed. */
  readonly hint?: string;
}

/** Runs a check: its result is the detail of a finding, what it throws that of a failure. */
export async function check(name: string, hide: Hide, work: () => Promise<string>): Promise<Finding> {
  try {
    return { check: name, ok: true, detail: await work() };
  } catch (thrown) {
    const error = ownError(thrown, hide);
    if (error instanceof ManifestError) {
      const [first] = error.problems;
      const where =
        first === undefined ? "" : `: ${first.range.file}:${first.range.start.line}: ${first.message}`;
      return {
        check: name,
        ok: false,
        detail: `${amount(error.problems.length, "problem")}${where}`,
        hint: first?.hint ?? "graphform validate shows them",
      };
    }
    const { message, hint } = error;
    return { check: name, ok: false, detail: message, ...(hint === undefined ? {} : { hint }) };
  }
}
