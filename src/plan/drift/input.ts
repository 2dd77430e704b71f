/** @module Defines everything that a drift report is made from. */
import type { Address } from "../../model/address.ts";
import type { Desired } from "../../model/desired.ts";
import type { NotChecked } from "../../model/drift.ts";
import type { KindRegistry } from "../../model/kind.ts";
import type { Observed } from "../../model/observed.ts";
import type { Plan } from "../../model/plan.ts";
import type { SourceRange } from "../../model/problem.ts";
import type { Bound } from "../../model/state.ts";
import type { Unmanaged } from "../input.ts";

/** A plan and what it was made from; the same input gives the same report, byte for byte. */
export interface DriftInput {
  readonly plan: Plan;
  readonly desired: readonly Desired[];
  /** Binding of each address, moves carried out. */
  readonly bound: { readonly [address: Address]: Bound };
  readonly observed: ReadonlyMap<Address, Observed>;
  /** Objects and lists that could not be read, and that the plan leaves out. Default: none. */
  readonly unread?: readonly NotChecked[];
  /** Unmanaged objects; absent if they were not asked for. */
  readonly unmanaged?: readonly Unmanaged[];
  readonly kinds: KindRegistry;
  /** The place in the manifest that declares a field, or the nearest one. */
  readonly fieldRange: (address: Address, path: string) => SourceRange | undefined;
}
