/** @module Defines everything that a plan is made from. */

import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import type { KindRegistry } from "../model/kind.ts";
import type { DeclaredOutput, Guards, Move, Removal } from "../model/manifest.ts";
import type { Doubt, Observed, Unmanaged } from "../model/observed.ts";
import type { CreateDoubt, Guard, PlanOptions } from "../model/plan.ts";
import type { NotProbed } from "../model/probe.ts";
import type { Profile } from "../model/profile.ts";
import type { StateDocument } from "../model/state.ts";

/** Everything that a plan is made of; the same input gives the same plan, byte for byte. */
export interface PlanInput {
  readonly name: string;
  readonly timestamp: string;
  readonly desired: readonly Desired[];
  readonly state: StateDocument;
  /** The entries of the stored state; `state` also contains the guards that `destroy` adds. */
  readonly remembered: StateDocument["resources"];
  /** The observed object of every bound address, and of every object to adopt. */
  readonly observed: ReadonlyMap<Address, Observed>;
  /** Bound addresses whose objects may be gone, or are others by now. Default: none. */
  readonly doubts?: ReadonlyMap<Address, Doubt>;
  /** Open creates of earlier runs of which nothing tells what they have made. Default: none. */
  readonly createsInDoubt?: ReadonlyMap<Address, CreateDoubt>;
  /** Declared objects that could not be asked themselves; absent if the run can ask none. */
  readonly notProbed?: readonly NotProbed[];
  /** Lists of which the service shows a part only, in words. */
  readonly partialLists?: readonly string[];
  readonly unmanaged: readonly Unmanaged[];
  readonly kinds: KindRegistry;
  readonly profile: Profile;
  readonly guards: Guards;
  readonly moved: readonly Move[];
  readonly removed: readonly Removal[];
  readonly outputs: { readonly [name: string]: DeclaredOutput };
  readonly options: PlanOptions;
  /** True for `destroy`: an empty manifest is meant. */
  readonly destroying: boolean;
  /** Ms since 1970, by which the time is over for which old databases are held. Absent: none is over. */
  readonly now?: number;
  /** Addresses whose data moves to a new object, each with the addresses that live inside. Set by `withSuccessors`. */
  readonly migrating?: ReadonlyMap<Address, readonly Address[]>;
  /** The reasons against moving the data of these, as the databases themselves have shown them. Default: none. */
  readonly immovable?: ReadonlyMap<Address, readonly Guard[]>;
  readonly digest: (text: string) => string;
}
