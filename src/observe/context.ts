/** @module Defines the dependencies of observing, and the single look that everything else is made of. */
import type { Address } from "../model/address.ts";
import type { Delays } from "../model/consistency.ts";
import type { Reader } from "../model/kind.ts";
import { type KindRegistry, present } from "../model/kind-registry.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Profile } from "../model/profile.ts";
import type { StateDocument } from "../model/state.ts";

/** The dependencies of observing; readers cannot write. */
export interface ObserveContext {
  readonly kinds: KindRegistry;
  readonly readers: ReadonlyMap<string, Reader>;
  readonly state: StateDocument;
  /** Ms since 1970. */
  readonly now: number;
  readonly profile: Profile;
  /** The delays that the service may have. */
  readonly delays: Delays;
  readonly signal: AbortSignal;
}

/** An object that is known of, and the address that it belongs to. */
export interface Known {
  readonly address: Address;
  readonly kind: string;
  readonly ref: Ref;
}

/** One look at each of them, all at once. */
export function look(
  known: readonly Known[],
  context: ObserveContext,
): Promise<readonly (Live | undefined)[]> {
  return Promise.all(known.map((entry) => readerOf(entry.kind, context).get(entry.ref, context.signal)));
}

/** The reader of a kind. Throws where the composition root forgot one. */
export function readerOf(kind: string, context: ObserveContext): Reader {
  return present(context.readers.get(kind), kind);
}
