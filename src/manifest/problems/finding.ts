/** @module Makes findings: faults at their place in a manifest. */

import type { Address } from "../../model/address.ts";
import { defined } from "../../model/json.ts";
import type { Finding } from "../../model/kind.ts";
import type { SourceRange } from "../../model/problem.ts";

/** A mistake and the way out, without its place. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** An error at a place. */
export function errorAt(range: SourceRange, fault: Fault, address?: Address): Finding {
  return { severity: "error", ...fault, range, ...defined({ address }) };
}

/** A warning at a place: the run goes on. */
export function warningAt(range: SourceRange, fault: Fault, address?: Address): Finding {
  return { ...errorAt(range, fault, address), severity: "warning" };
}
