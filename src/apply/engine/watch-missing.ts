/** @module Looks for what a step finds missing, and words the refusal when nothing proves that it is gone. */
import type { Address } from "../../model/address.ts";
import { absence, gracePeriod, haveEnded, type Look } from "../../model/consistency.ts";
import { GraphformError, shellWord } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { KnownObject, Live } from "../../model/observed.ts";
import type { Journal } from "../../model/state-event.ts";
import { parentsIn } from "../../model/templates.ts";
import { isPassing, poll } from "../../polling/poll.ts";
import { contradiction, lookOnce, placeWithWitnesses } from "../../polling/prove-absence.ts";
import { type ApplyContext, driverOf } from "../context.ts";

export type LookContext = Pick<ApplyContext, "drivers" | "profile" | "clock" | "kinds" | "stopping"> & {
  readonly journal: Pick<Journal, "state">;
};

/** The answer of a look: the object, the proof that it is gone, or neither yet. */
export type Sighting =
  | { readonly is: "shown"; readonly live: Live }
  | { readonly is: "absent" }
  | { readonly is: "hidden" };

/** An object that a step looks at; `mayBeHiddenSince`, in ms since 1970, starts its creation grace period. */
export interface Watched extends KnownObject {
  readonly mayBeHiddenSince: number;
}

/**
 * Watches an object: each call is one look, which lists its place only if it is missing after its creation grace period. Rejects with
 * `absence-unproven` after the longest time that a proof takes. `needsNoProof`: one look proves absence.
 */
export function watch(
  watched: Watched,
  context: LookContext,
  needsNoProof: () => boolean = () => false,
): () => Promise<Sighting> {
  const { kind, ref } = watched;
  const { clock, profile, stopping } = context;
  const reader = driverOf(context, kind);
  // The clock that the state was written by may be ahead of this one.
  const createdAt = Math.min(watched.mayBeHiddenSince, clock.now());
  const lives = new Map<string, Live>();
  let looks: readonly Look[] = [];
  return async () => {
    if (looks.length === 0) {
      const live = await reader.get(ref, stopping);
      if (live !== undefined) return { is: "shown", live };
      if (needsNoProof()) return { is: "absent" };
      if (gracePeriod(createdAt, clock.now(), profile.timing) !== "over") return { is: "hidden" };
    }
    const place = placeWithWitnesses({ kind, place: ref.place }, reader, context.journal.state);
    const look = await lookOnce(() => [ref.id], place, lives, context);
    looks = [...looks, look];
    const verdict = absence(ref.id, createdAt, looks, profile.timing);
    if (verdict === "in-doubt") throw unproven(watched, contradiction(ref.id, look));
    if (verdict !== "shown") return { is: verdict === "absent" ? "absent" : "hidden" };
    looks = [];
    const live = lives.get(ref.id);
    return live === undefined ? { is: "hidden" } : { is: "shown", live };
  };
}

/** The parents of a place; undefined for one that the state does not bind any more. */
export function parentsOf(
  kind: string,
  place: JsonObject,
  { journal, kinds }: Pick<LookContext, "journal" | "kinds">,
): readonly (Watched | undefined)[] {
  const resources = Object.entries(journal.state.resources);
  return parentsIn(kinds.named(kind).schema, place).map((parent) => {
    const found = resources.find(([, bound]) => bound.kind === parent.kind && bound.id === parent.id);
    if (found === undefined) return undefined;
    const [address, ref] = found;
    return { kind: parent.kind, address, ref, mayBeHiddenSince: Date.parse(ref.createdAt) };
  });
}

/**
 * Looks until an object is shown, or proved absent: then undefined. It goes with an absent parent, for whose children the service may
 * answer with errors. Rejects with `absence-unproven`, also if no look is answered.
 */
export async function untilShownOrAbsent(watched: Watched, context: LookContext): Promise<Live | undefined> {
  const { clock, profile } = context;
  const { kind, ref } = watched;
  const look = watch(watched, context);
  const bound = parentsOf(kind, ref.place, context).filter((parent) => parent !== undefined);
  const parents = bound.map((parent) => watch(parent, context));
  const unanswered: Look[] = [];
  const lookOrAskParents = async (): Promise<Sighting> => {
    const from = clock.now();
    try {
      return await look();
    } catch (error) {
      if (!isPassing(error)) throw error;
      for (const parent of parents) if ((await parent()).is === "absent") return { is: "absent" };
      const nothing = { listed: undefined, described: new Map(), isPartial: false, isWhole: false };
      const last: Look = { from, until: clock.now(), ...nothing };
      unanswered.push(last);
      if (haveEnded(unanswered, profile.timing)) throw unproven(watched, contradiction(ref.id, last));
      throw error;
    }
  };
  const evaluate = (seen: Sighting): Sighting | undefined => (seen.is === "hidden" ? undefined : seen);
  const seen = await poll({ look: lookOrAskParents, evaluate }, context);
  return seen?.is === "shown" ? seen.live : undefined;
}

/** The most objects that are asked for to see whether any is shown. */
const mostAsked = 10;

/** True if the service shows none of the objects of a kind, as after lost rights: nothing proves absence. `except`: they do not count. */
export async function isBlind(
  kind: string,
  except: readonly Address[],
  { clock, drivers, journal, profile, stopping }: LookContext,
): Promise<boolean> {
  const known = Object.entries(journal.state.resources).filter(
    ([address, bound]) =>
      bound.kind === kind &&
      !except.includes(address) &&
      bound.converging?.operation !== "delete" &&
      gracePeriod(Date.parse(bound.createdAt), clock.now(), profile.timing) === "over",
  );
  for (const [, ref] of known.slice(0, mostAsked)) {
    const live = await driverOf({ drivers }, kind)
      .get(ref, stopping)
      .catch(() => undefined);
    if (live !== undefined && live.phase.is !== "gone") return false;
  }
  return known.length > 0;
}

/** The error if nothing proves that a watched object is gone. */
export function unproven({ address, ref }: Watched, because: string): GraphformError {
  const name = shellWord(address);
  const message = `nothing proves that ${address} (${ref.id}) is gone, or that it is there: ${because}`;
  const hint = `run again with the rights and the account that show it; if it is gone for good: graphform state rm ${name}; if it has another id: graphform import ${name} ID`;
  return new GraphformError("absence-unproven", message, { hint });
}
