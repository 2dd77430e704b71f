/** @module Turns a rule's remarks into findings with their places in the manifest. */
import type { Desired } from "../model/desired.ts";
import type { Problem } from "../model/errors.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import { perObject } from "../model/once.ts";

/** A remark is an error unless it has a severity. */
export interface Remark
  extends Required<Pick<Problem, "code" | "message" | "hint">>,
    Partial<Pick<Problem, "severity">> {
  readonly path: string;
}

export function remark(code: string, path: string, message: string, hint: string): Remark {
  return { code, path, message, hint };
}

export function findings(
  desired: Desired,
  context: RuleContext,
  remarks: readonly Remark[],
): readonly Finding[] {
  const { address } = desired;
  return remarks.map(({ path, ...rest }) => ({
    ...{ severity: "error", ...rest },
    ...{ range: context.at(desired, path), address },
  }));
}

export function resourceAt({ all }: RuleContext, address: string): Desired | undefined {
  return byAddress(all).get(address);
}

const byAddress = perObject(
  (all: readonly Desired[]) => new Map(all.map((desired) => [desired.address, desired])),
);
