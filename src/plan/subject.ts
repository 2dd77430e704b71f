/** @module Describes one address before anything is decided: declared, bound, observed. */

import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { defined } from "../model/json.ts";
import type { Doubt, Observed } from "../model/observed.ts";
import type { Change } from "../model/plan.ts";
import type { Spec } from "../model/spec.ts";
import type { Bound, Intent } from "../model/state.ts";

/** One address with everything known of it, before anything is decided. */
export interface Subject {
  readonly address: Address;
  readonly previousAddress?: Address;
  readonly kind: string;
  readonly desired?: Desired;
  readonly bound?: Bound;
  /** The create of an earlier run that is still open. */
  readonly intent?: Intent;
  /** Absent if nothing is bound, or if the bound object is gone or in doubt. */
  readonly observed?: Observed;
  /** Why nothing that is bound can be relied on. */
  readonly doubt?: Doubt;
}

/** The fields of a change that repeat its subject, whatever the action. */
export function base(
  subject: Subject,
): Pick<Change, "address" | "kind" | "blocked" | "drift"> & Partial<Change> {
  const refs = subject.desired?.refs ?? subject.bound?.refs ?? [];
  return {
    address: subject.address,
    kind: subject.kind,
    blocked: [],
    drift: [],
    ...defined({ previousAddress: subject.previousAddress }),
    ...(subject.desired === undefined ? {} : { where: subject.desired.where }),
    ...(refs.length === 0 ? {} : { refs }),
    ...(subject.observed === undefined ? {} : { id: subject.observed.id, phase: subject.observed.phase }),
    ...(subject.observed === undefined && subject.bound !== undefined ? { id: subject.bound.id } : {}),
    ...(hasVanished(subject) ? { gone: true as const, before: subject.bound?.recorded ?? {} } : {}),
  };
}

/** True if the bound object was proved absent, and graphform did not ask for its deletion. */
export function hasVanished({ bound, observed, doubt }: Subject): boolean {
  const isMissing = bound !== undefined && observed === undefined && doubt === undefined;
  return isMissing && bound.converging?.operation !== "delete";
}

/** An observed spec without its sources. */
export function specOf(observed: Observed): Spec {
  return Object.fromEntries(Object.entries(observed.spec).map(([path, seen]) => [path, seen.value]));
}
