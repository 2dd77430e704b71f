/** @module Defines the dependencies of observing, and the single look that everything else is made of. */
import type { Address } from "../model/address.ts";
import type { Clock } from "../model/clock.ts";
import type { ServiceError } from "../model/errors.ts";
import { type KindRegistry, present, type Reader } from "../model/kind.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Profile } from "../model/profile.ts";
import type { Open } from "../model/sealed.ts";
import type { StateDocument } from "../model/state.ts";

/** The dependencies of observing; readers cannot write. */
export interface ObserveContext {
  readonly kinds: KindRegistry;
  readonly readers: ReadonlyMap<string, Reader>;
  readonly state: StateDocument;
  readonly clock: Clock;
  readonly profile: Profile;
  readonly signal: AbortSignal;
  /** The secrets of the run. Without them no running object is asked. */
  readonly open?: Open | undefined;
  /** The reason why the run asks no running object, if it was told so. */
  readonly unasked?: string | undefined;
  /** The reasons of objects that could not be read, if they are skipped; without it the first one ends the observation. */
  readonly unread?: Map<Known, ServiceError>;
  /** Called with each object as soon as the service has answered. */
  readonly onLook?: (entry: Known, live: Live | undefined) => void;
  /** Called with a wait in words, and with an empty text when it is over. */
  readonly onWait?: (wait: string) => void;
}

/** An object that is known of, and the address that it belongs to. */
export interface Known {
  readonly address: Address;
  readonly kind: string;
  readonly ref: Ref;
}

/** One look. Rejects if the service does not show it for another reason than that it is not there. */
export async function lookAtOne(entry: Known, context: ObserveContext): Promise<Live | undefined> {
  const live = await readerOf(entry.kind, context).get(entry.ref, context.signal);
  context.onLook?.(entry, live);
  return live;
}

/** The reader of a kind. Throws if the composition root forgot one. */
export function readerOf(kind: string, context: ObserveContext): Reader {
  return present(context.readers.get(kind), kind);
}

/** Receives how many reads are answered, how many are known to be needed so far, and in words the wait before the next ones. */
export type OnRead = (answered: number, known: number, wait?: string) => void;

/**
 * Returns a function that wraps readers, and one that reports a wait: every described object and every list is counted. `expected` is the least number of
 * reads; more become known as they are asked for.
 */
export function countReads(
  expected: number,
  onRead: OnRead = () => undefined,
): { readonly counting: (reader: Reader) => Reader; readonly onWait: (wait: string) => void } {
  let [answered, asked, waits] = [0, 0, ""];
  const report = (): void => onRead(answered, Math.max(expected, asked), waits);
  const counted = async <T>(answer: Promise<T>): Promise<T> => {
    asked += 1;
    try {
      return await answer;
    } finally {
      answered += 1;
      report();
    }
  };
  report();
  return {
    counting: (reader) => ({
      ...reader,
      get: (ref, signal) => counted(reader.get(ref, signal)),
      list: (place, signal) => counted(reader.list(place, signal)),
    }),
    onWait: (wait) => {
      waits = wait;
      report();
    },
  };
}
