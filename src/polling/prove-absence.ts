/** @module Looks for ids of one place that were missing, until each is shown, proved absent, or in doubt. */
import {
  type Absence,
  type Answers,
  absence,
  haveEnded,
  isWhole,
  type Look,
  lackedWitnesses,
  type Sight,
  type Witnesses,
} from "../model/consistency.ts";
import { type JsonObject, stableJson } from "../model/json.ts";
import type { Reader } from "../model/kind.ts";
import type { Live } from "../model/observed.ts";
import type { Bound, StateDocument } from "../model/state.ts";
import { isPassing, type PollContext, poll } from "./poll.ts";

export interface SearchedPlace {
  readonly place: JsonObject;
  readonly reader: Pick<Reader, "list" | "get" | "isPartial" | "isListed" | "shownAt">;
  readonly witnesses: Witnesses;
}

/** A place, with the ids that the state binds there and those of earlier lists: a list that lacks one of them is checked. */
export function placeWithWitnesses(
  { kind, place }: Pick<Bound, "kind" | "place">,
  reader: SearchedPlace["reader"],
  { resources }: Pick<StateDocument, "resources">,
  earlier: readonly string[] = [],
): SearchedPlace {
  const key = stableJson(place);
  const bound = Object.values(resources)
    .filter((entry) => entry.kind === kind && stableJson(entry.place) === key)
    .map(({ id, createdAt }): [string, number] => [id, Date.parse(createdAt)]);
  const listed = [...earlier, ...(reader.shownAt?.(place) ?? [])].map((id): [string, number] => [
    id,
    Number.NaN,
  ]);
  return { place, reader, witnesses: new Map([...listed, ...bound]) };
}

/** The end of a search for one id; `live` is the object as the last look showed it. */
export type SearchVerdict =
  | { readonly is: "shown"; readonly live: Live }
  | { readonly is: "absent" }
  | { readonly is: "in-doubt"; readonly because: string };

/**
 * Looks for `missing` ids (id -> the latest time at which it can have been created, in ms since 1970). Ends within `listLag` + 2 `settle`
 * of the first look that can prove anything. Rejects with the first failure of a read that will not pass.
 */
export async function lookFor(
  missing: Witnesses,
  place: SearchedPlace,
  context: PollContext,
): Promise<ReadonlyMap<string, SearchVerdict>> {
  const verdicts = new Map<string, SearchVerdict>();
  const looks: Look[] = [];
  const lives = new Map<string, Live>();
  const look = async (): Promise<Look> => lookOnce(undecided, place, lives, context);
  const undecided = (): readonly string[] => [...missing.keys()].filter((id) => !verdicts.has(id));
  const evaluate = (seen: Look): ReadonlyMap<string, SearchVerdict> | undefined => {
    looks.push(seen);
    for (const id of undecided()) {
      const is = absence(id, missing.get(id) ?? Number.NaN, looks, context.profile.timing);
      const verdict = verdictOf(is, id, seen, lives.get(id));
      if (verdict !== undefined) verdicts.set(id, verdict);
    }
    return verdicts.size === missing.size ? verdicts : undefined;
  };
  await poll({ look, evaluate }, context);
  return verdicts;
}

/** Lists a place until the list is whole. Returns the last list, and false in `isWhole` if the looks have ended before. */
export async function listWhole(
  place: SearchedPlace,
  context: PollContext,
): Promise<Pick<Look, "listed" | "isWhole">> {
  const looks: Look[] = [];
  const look = async (): Promise<Look> => lookOnce(() => [], place, new Map(), context);
  const evaluate = (seen: Look): Look | undefined => {
    looks.push(seen);
    return seen.isWhole || haveEnded(looks, context.profile.timing) ? seen : undefined;
  };
  return (await poll({ look, evaluate }, context)) ?? { listed: undefined, isWhole: false };
}

/** Lists the place, describes `ids`, and witnesses that the list lacks until one is shown. `lives` gets the shown `ids`. */
export async function lookOnce(
  ids: (listed: ReadonlySet<string> | undefined) => readonly string[],
  { place, reader, witnesses }: SearchedPlace,
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
  return { ...answers, isWhole: reader.isListed === false || isWhole(answers, witnesses, profile.timing) };
}

function sightOf(live: Live | undefined): Sight {
  if (live === undefined || live.phase.is === "gone") return "missing";
  return live.phase.isLeaving === true ? "leaving" : "shown";
}

function verdictOf(is: Absence, id: string, last: Look, live: Live | undefined): SearchVerdict | undefined {
  if (is === "undecided") return undefined;
  if (is === "shown" && live !== undefined) return { is, live };
  return is === "absent" ? { is } : { is: "in-doubt", because: contradiction(id, last) };
}

/** Names the contradiction between the answers of a look, or the answer that is missing. */
export function contradiction(id: string, { listed, isPartial, isWhole, described }: Look): string {
  if (!described.has(id)) return "the service does not answer when it is asked for it";
  if (listed === undefined) return "the list of its place cannot be read";
  if (listed.has(id)) return "lists show it, and describe does not";
  if (isPartial) return "the list of its place is not complete, as the service says";
  const lacked = [...described].find(([, sight]) => sight === "shown")?.[0];
  if (isWhole || lacked === undefined) return "the service has answered differently every time";
  return `the list of its place lacks ${lacked} too, which is there`;
}

/** The answer of a read; undefined if it failed for now. */
async function unlessPassing<Answer>(read: () => Promise<Answer>): Promise<Answer | undefined> {
  return read().catch((error: unknown) => {
    if (isPassing(error)) return undefined;
    throw error;
  });
}
