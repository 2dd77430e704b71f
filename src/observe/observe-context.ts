/** @module Defines the dependencies of observing, the single look that everything else is made of, and what could not be read. */
import { type Address, byAddress, parseAddress, withoutTwin } from "../model/address.ts";
import type { Clock } from "../model/clock.ts";
import { GraphformError, isServiceError, type ServiceError, shellWord } from "../model/errors.ts";
import type { JsonObject } from "../model/json.ts";
import { present, type Reader } from "../model/kind.ts";
import { type KnownObject, type Live, placeKey, placeText } from "../model/observed.ts";
import { firstOf } from "../model/quantity.ts";
import type { AskContext } from "../polling/ask-objects.ts";
import { forEachItem } from "../polling/poll.ts";

export interface Unread {
  /** The address of the object; of a list the name of its kind; of an object that no address is bound to empty. */
  readonly address: Address;
  readonly reason: string;
  /** Names it in a sentence: its address and id, or the list of a place. */
  readonly what: string;
  readonly error: ServiceError;
}

export interface ListedPlace {
  readonly kind: string;
  readonly place: JsonObject;
}

/** The ids at a place, or why they could not be listed. */
export type Listed = readonly string[] | ServiceError;

/** One look at each of them. `failed` gets each failure: by default the first one ends it, unless failures are skipped. */
export async function look(
  known: readonly KnownObject[],
  context: ObserveContext,
  failed: typeof skipUnread = skipUnread,
): Promise<ReadonlyMap<KnownObject, Live>> {
  const lives = new Map<KnownObject, Live>();
  await forEachItem(known, async (entry) => {
    try {
      const live = await readerOf(entry.kind, context).get(entry.ref, context.signal);
      if (live !== undefined) lives.set(entry, live);
    } catch (error) {
      failed(entry, error, context);
    }
  });
  return lives;
}

/** Lists each place once, however often it is asked for. Rejects with the first failure, unless failures are skipped. */
export function placeLister(context: ObserveContext): (at: ListedPlace) => Promise<Listed> {
  const begun = new Map<string, Promise<Listed>>();
  const list = async ({ kind, place }: ListedPlace): Promise<Listed> => {
    try {
      return await readerOf(kind, context).list(place, context.signal);
    } catch (error) {
      if (!isSkipped(error, context)) throw error;
      return error;
    }
  };
  return (at) => {
    const listed = begun.get(placeKey(at)) ?? list(at);
    begun.set(placeKey(at), listed);
    return listed;
  };
}

export function idsIn(listed: Listed | undefined): readonly string[] {
  return listed === undefined || isServiceError(listed) ? [] : listed;
}

/** Remembers that an object could not be read, if such are skipped; throws the error if not. */
export function skipUnread(entry: KnownObject, error: unknown, context: ObserveContext): void {
  if (!isSkipped(error, context)) throw error;
  context.unread?.set(entry, error);
}

export function assertSomethingRead(known: readonly KnownObject[], { unread }: ObserveContext): void {
  const found = unreadObjects(unread);
  if (found.length > 0 && known.every((entry) => unread?.has(entry))) throw unreadable(found);
}

/** Everything that could not be read, in the order of its addresses. */
export function unreadIn(
  places: readonly ListedPlace[],
  lists: readonly Listed[],
  { unread }: ObserveContext,
): readonly Unread[] {
  const objects = unreadObjects(unread);
  const unlisted = places.flatMap(({ kind, place }, at): Unread[] => {
    const error = lists[at];
    if (!isServiceError(error)) return [];
    return [{ address: kind, what: `the list of ${placeText(kind, place)}`, reason: error.message, error }];
  });
  return [...objects, ...unlisted].sort(byAddress);
}

function unreadObjects(unread: ObserveContext["unread"]): readonly Unread[] {
  return [...(unread ?? [])].map(([{ address, kind, ref }, error]) => {
    const what =
      address === "" ? `${ref.id} of ${kind}, which no address is bound to,` : `${address} (${ref.id})`;
    return { address, what, reason: error.message, error };
  });
}

/** Failures that are named; the others are counted. */
const named = 20;

/** The error of a plan that cannot be made: all that could not be read, with its host, and the way on without it. */
export function unreadable(unread: readonly Unread[]): GraphformError {
  const causes = [...Map.groupBy(unread, ({ reason, error }) => `${error.host ?? ""} ${reason}`).values()];
  const texts = causes.flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const { host } = first.error;
    const what = all.map((entry) => entry.what);
    const at = host === undefined ? "" : ` at ${host}`;
    return [`${firstOf(what, named)} cannot be read${at}: ${first.reason}`];
  });
  const [first] = unread;
  const addresses = unread.map(({ address }) => address);
  const options = addresses.slice(0, named).map((address) => `--exclude ${shellWord(withoutTwin(address))}`);
  const isExcludable = addresses.every((address) => parseAddress(address) !== undefined);
  const hints = [...new Set(unread.flatMap(({ error }) => error.hint ?? []))];
  const [more, them] = [addresses.length > named ? " ..." : "", addresses.length === 1 ? "it" : "them"];
  const way = isExcludable ? [`${options.join(" ")}${more} goes on without ${them}`] : [];
  const hint = [...hints, ...way].join("; ");
  return new GraphformError(first?.error.code ?? "unreadable", texts.join("; "), {
    ...(hint === "" ? {} : { hint }),
    cause: first?.error,
  });
}

/** The places whose lists may not be all, in words, each once: `short` ones lack what describe shows, others say so. */
export function partialIn(
  places: readonly ListedPlace[],
  short: readonly ListedPlace[],
  context: ObserveContext,
): readonly string[] {
  const partial = places.filter(
    (at) => short.includes(at) || readerOf(at.kind, context).isPartial?.(at.place) === true,
  );
  return [...new Set(partial.map(({ kind, place }) => placeText(kind, place)))].sort();
}

/** True for the failure of one read if the others go on. A session that ended, or an interrupt, concerns all. */
function isSkipped(error: unknown, { unread, signal }: ObserveContext): error is ServiceError {
  if (unread === undefined || signal.aborted || !isServiceError(error)) return false;
  return error.failure !== "unauthorized" && error.failure !== "aborted";
}

/** The dependencies of observing; readers cannot write. */
export interface ObserveContext extends AskContext {
  readonly clock: Clock;
  /** The reasons of objects that could not be read, if they are skipped; without it the first one ends the observation. */
  readonly unread?: Map<KnownObject, ServiceError>;
  /** Lists also databases of every tier, and what is inside of bound ones. */
  readonly everywhere?: boolean;
  /** Called with a wait in words, and with an empty text when it is over. */
  readonly onWait?: (wait: string) => void;
}

/** The reader of a kind. Throws if the composition root forgot one. */
export function readerOf(kind: string, context: ObserveContext): Reader {
  return present(context.readers.get(kind), kind);
}

/** Receives how many reads are answered, how many are known to be needed so far, and in words the wait before the next ones. */
export type OnRead = (answered: number, known: number, wait?: string) => void;

/** Wraps readers: counts each described object and each list, and reports waits. `expected` is the least number of reads. */
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
