/** @module Turns a rule's remarks into findings with their places in the manifest. */
import type { Desired } from "../model/desired.ts";
import type { Finding, RuleContext } from "../model/kind.ts";

/** A remark of a rule on a path of the spec, with its remedy. */
export interface Said {
  readonly code: string;
  readonly path: string;
  readonly message: string;
  readonly hint: string;
  /** Default "error". */
  readonly severity?: "error" | "warning";
}

/** Makes a remark. */
export function said(code: string, path: string, message: string, hint: string): Said {
  return { code, path, message, hint };
}

/** The findings of what was said about one resource. */
export function findings(
  desired: Desired,
  context: RuleContext,
  remarks: readonly Said[],
): readonly Finding[] {
  return remarks.map(({ code, path, message, hint, severity = "error" }) => ({
    code,
    severity,
    message,
    hint,
    range: context.at(desired, path),
    address: desired.address,
  }));
}

/** The resource at an address. */
export function resourceAt(context: RuleContext, address: string): Desired | undefined {
  let index = indexes.get(context.all);
  if (index === undefined) {
    index = new Map(context.all.map((desired) => [desired.address, desired]));
    indexes.set(context.all, index);
  }
  return index.get(address);
}

/** Made once for all rules of a manifest. */
const indexes = new WeakMap<readonly Desired[], ReadonlyMap<string, Desired>>();
