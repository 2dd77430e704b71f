import type { Address } from "../model/address.ts";
import type { Finding } from "../model/kind.ts";
import type { SourceRange } from "../model/problem.ts";

/** What is wrong and the way out, before it is known where it stands. */
export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/** A fault at its place. */
export function errorAt(range: SourceRange, fault: Fault, address?: Address): Finding {
  return { severity: "error", ...fault, range, ...(address === undefined ? {} : { address }) };
}

/** A fault that stops nothing. */
export function warningAt(range: SourceRange, fault: Fault, address?: Address): Finding {
  return { ...errorAt(range, fault, address), severity: "warning" };
}
