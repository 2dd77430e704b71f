/** @module Looks for ids of one place that were missing, until each is shown, proved absent, or in doubt. */
import {
  type Absence,
  type Answers,
  absence,
  isWhole,
  type Look,
  lackedWitnesses,
  type Sight,
  type Witnesses,
} from "../model/consistency.ts";
import type { JsonObject } from "../model/json.ts";
import type { Reader } from "../model/kind.ts";
import type { Live } from "../model/observed.ts";
import { isPassing, type PollContext, poll } from "./poll.ts";

/** The place that is looked at, and what is known of its ids. */
export interface Place {
  readonly place: JsonObject;
  readonly reader: Pick<Reader, "list" | "get" | "isPartial">;
  readonly witnesses: Witnesses;
}

/** The end of a search for one id; `live` is the object as the last look showed it. */
export type Verdict =
  | { readonly is: "shown"; readonly live: Live }
  | { readonly is: "absent" }
  | { readonly is: "in-doubt"; readonly looks: readonly Look[] };

/**
 * Looks for `missing` ids (id -> the latest time at which it can have been created, in ms since 1970). Ends within `listLag` + 2 `settle`
 * of the first look that can prove anything. Rejects with the first failure of a read that will not pass.
 */
export async function lookFor(
  missing: Witnesses,
  place: Place,
  context: PollContext,
): Promise<ReadonlyMap<string, Verdict>> {
  const verdicts = new Map<string, Verdict>();
  const looks: Look[] = [];
  const lives = new Map<string, Live>();
  const look = async (): Promise<Look> => lookOnce(undecided, place, lives, context);
  const undecided = (): readonly string[] => [...missing.keys()].filter((id) => !verdicts.has(id));
  const evaluate = (seen: Look): ReadonlyMap<string, Verdict> | undefined => {
    looks.push(seen);
    for (const id of undecided()) {
      const is = absence(id, missing.get(id) ?? Number.NaN, looks, context.profile.timing);
      const verdict = verdictOf(is, lives.get(id), looks);
      if (verdict !== undefined) verdicts.set(id, verdict);
    }
    return verdicts.size === missing.size ? verdicts : undefined;
  };
  await poll({ look, evaluate, deadline: Number.POSITIVE_INFINITY }, context);
  return verdicts;
}

/**
 * Makes one look: lists the place, describes the `ids` of interest, and describes the witnesses that the list lacks until one of them
 * is shown. Puts what is shown of `ids` into `lives`.
 */
export async function lookOnce(
  ids: (listed: ReadonlySet<string> | undefined) => readonly string[],
  { place, reader, witnesses }: Place,
  lives: Map<string, Live>,
  { clock, profile, stopping }: PollContext,
): Promise<Look> {
  const from = clock.now();
  const described = new Map<string, Sight>();
  const describe = async (id: string): Promise<Live | undefined> => {
    const live = await reader.get({ id, place }, stopping);
    described.set(id, sightOf(live));
    return live;
  };
  const listed = await unlessPassing(async () => new Set(await reader.list(place, stopping)));
  await Promise.all(
    ids(listed).map(async (id) => {
      const live = await unlessPassing(() => describe(id));
      if (live !== undefined) lives.set(id, live);
    }),
  );
  const lacked = lackedWitnesses({ from, listed }, witnesses, profile.timing);
  for (const id of listed === undefined ? [] : lacked.filter((other) => !described.has(other))) {
    await unlessPassing(() => describe(id));
    if (described.get(id) === "shown") break;
  }
  const isPartial = reader.isPartial?.(place) === true;
  const answers: Answers = { from, until: clock.now(), listed, isPartial, described };
  return { ...answers, isWhole: isWhole(answers, witnesses, profile.timing) };
}

function sightOf(live: Live | undefined): Sight {
  if (live === undefined || live.phase.is === "gone") return "missing";
  return live.phase.isLeaving === true ? "leaving" : "shown";
}

function verdictOf(is: Absence, live: Live | undefined, looks: readonly Look[]): Verdict | undefined {
  if (is === "undecided") return undefined;
  if (is === "shown" && live !== undefined) return { is, live };
  return is === "absent" ? { is } : { is: "in-doubt", looks: [...looks] };
}

/** The answer of a read; undefined if it failed for now. */
async function unlessPassing<Answer>(read: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!isPassing(error)) throw error;
    return undefined;
  }
}
