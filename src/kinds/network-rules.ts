/** @module Checks that a network exists where the profile cannot create one. */

import type { Desired } from "../model/desired.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import { isWritten } from "../model/spec.ts";
import { findings } from "./rule-tools.ts";

/** A network must be there already where the profile cannot create one. */
export function checkNetwork(desired: Desired, context: RuleContext): readonly Finding[] {
  const { name, operations } = context.profile;
  const bound = isWritten(desired.spec, "id") || desired.importId !== undefined;
  if (bound || operations["network.create"] !== undefined) return [];
  const message = `"id" is missing: with the profile "${name}" networks cannot be created, only bound`;
  return findings(desired, context, [
    {
      code: "missing-key",
      path: "",
      message,
      hint: "add the id of an existing network, or use a profile that can create them (on the local platform: examples/profiles/local-networks.yaml)",
    },
  ]);
}
