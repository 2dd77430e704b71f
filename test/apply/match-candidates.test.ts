import { describe, expect, it } from "vitest";
import { type Candidate, type LostCreate, matchCandidates } from "../../src/apply/evidence/candidates.ts";
import type { Json } from "../../src/model/json.ts";
import type { Live } from "../../src/model/observed.ts";
import { toySchema } from "../support/toy-kind.ts";

const start = Date.UTC(2026, 0, 1);
const delays = { listLag: 30_000, settle: 5000 };
const late = start + 60_000;

type Values = { readonly [path: string]: Json };

function lost(name: string, recorded: Values, over: { readonly refused?: true } = {}): LostCreate {
  const intent = {
    round: "r",
    digest: "",
    startedAt: new Date(start).toISOString(),
    recorded,
    protect: false,
    onDelete: "delete" as const,
    refs: [],
    ...over,
  };
  return { address: `toys.${name}`, intent, endedAt: start };
}

function candidate(id: string, shows: Values | undefined, createdAt = start): Candidate {
  if (shows === undefined) return { id, live: undefined, firstSeenAt: start + 40_000 };
  const spec = Object.entries(shows).map(
    ([path, value]) => [path, { value, source: "described" as const }] as const,
  );
  const live: Live = {
    id,
    phase: { is: "ready", detail: "" },
    spec: Object.fromEntries(spec),
    outputs: {},
    createdAt: new Date(createdAt).toISOString(),
  };
  return { id, live, firstSeenAt: start };
}

/** The same object with the mark of a create. */
function marked(one: Candidate, address: string, lineage = "ours"): Candidate {
  return one.live === undefined ? one : { ...one, live: { ...one.live, owner: { lineage, address } } };
}

/** An object that shows marks, and none of ours. */
function unmarked(id: string): Candidate {
  const one = candidate(id, {});
  return one.live === undefined ? one : { ...one, live: { ...one.live, owner: null } };
}

/** An object that shows where marks would be, and has none. */
function bare(id: string, createdAt = start): Candidate {
  const one = candidate(id, {}, createdAt);
  return one.live === undefined ? one : { ...one, live: { ...one.live, owner: null, isBare: true } };
}

/** A create that carried its mark. */
function markedLost(name: string, recorded: Values): LostCreate {
  const create = lost(name, recorded);
  return { ...create, intent: { ...create.intent, marked: true } };
}

/** The verdict in short: `a=toy-1 b~toy-2 c-`, `~` where it may be another's, `-` where nothing was made. */
function verdict(
  candidates: readonly Candidate[],
  creates: readonly LostCreate[],
  now = late,
  keepsMarks = false,
): string {
  const matching = matchCandidates(
    candidates,
    creates,
    { schema: toySchema, lineage: "ours", keepsMarks },
    now,
    delays,
  );
  if (matching.is === "wait") return `wait ${matching.recheckAt - start}`;
  if (matching.is !== "matched") return `${matching.is} ${matching.found.map(({ id }) => id).join(" ")}`;
  const found = matching.found.map(
    ({ address, live, unsure }) => `${address.slice(5)}${unsure.length === 0 ? "=" : "~"}${live.id}`,
  );
  return [...found.sort(), ...matching.absent.map((address) => `${address.slice(5)}-`)].join(" ");
}

const red = { colour: "red", size: 1 };
const blue = { colour: "blue", size: 1 };
const large = { colour: "red", size: 2 };

describe("objects and lost creates", () => {
  it.each<[string, readonly Candidate[], boolean, string]>([
    [
      "nothing is guessed: it may be ours without its mark, or another's",
      [bare("toy-1")],
      false,
      "ambiguous toy-1",
    ],
    ["it is another's where ours are known to keep their marks", [bare("toy-1")], true, "a-"],
    [
      "it is another's where anybody's object shows a mark",
      [bare("toy-1"), marked(candidate("toy-2", {}), "toys.z", "theirs")],
      false,
      "a-",
    ],
    [
      "it does not matter where ours is found by its mark",
      [bare("toy-1"), marked(candidate("toy-2", {}), "toys.a")],
      false,
      "a=toy-2",
    ],
    ["it is not ours where it is too old", [bare("toy-1", start - 3_600_000)], false, "a-"],
  ])("without any mark: %s", (_, candidates, keepsMarks, expected) => {
    expect(verdict(candidates, [markedLost("a", red)], late, keepsMarks)).toBe(expected);
  });

  it.each<[string, readonly Candidate[], readonly LostCreate[], string]>([
    ["nothing is there", [], [lost("a", red)], "a-"],
    ["the only one there is it", [candidate("toy-1", {})], [lost("a", red)], "a=toy-1"],
    ["one that shows something else is not", [candidate("toy-1", { size: 3 })], [lost("a", large)], "a-"],
    [
      "two for one: nobody can tell",
      [candidate("toy-1", {}), candidate("toy-2", {})],
      [lost("a", red)],
      "ambiguous toy-1 toy-2",
    ],
    [
      "two are told apart by what they show",
      [candidate("toy-1", blue), candidate("toy-2", red)],
      [lost("a", red), lost("b", blue)],
      "a=toy-2 b=toy-1",
    ],
    [
      "what can be one only leaves the other for the rest",
      [candidate("toy-1", {}), candidate("toy-2", red)],
      [lost("a", red), lost("b", blue)],
      "a=toy-2 b~toy-1",
    ],
    [
      "two that show nothing are either's, since an update can make them so",
      [candidate("toy-1", {}), candidate("toy-2", {})],
      [lost("a", red), lost("b", blue)],
      "a~toy-2 b~toy-1",
    ],
    [
      "one that shows nothing is one of two, and the other made nothing",
      [candidate("toy-1", {})],
      [lost("a", red), lost("b", blue)],
      "a~toy-1 b-",
    ],
    [
      "what no update could bring to the other's spec is not guessed",
      [candidate("toy-1", {})],
      [lost("a", red), lost("b", large)],
      "ambiguous toy-1",
    ],
    [
      "more are there than were lost",
      [candidate("toy-1", {}), candidate("toy-2", {}), candidate("toy-3", {})],
      [lost("a", red), lost("b", blue)],
      "ambiguous toy-1 toy-2 toy-3",
    ],
    [
      "a refused create is not given what can be a lost one's",
      [candidate("toy-1", {})],
      [lost("a", red, { refused: true }), lost("b", blue)],
      "b~toy-1 a-",
    ],
    [
      "nor is it counted: one of them may be somebody else's",
      [candidate("toy-1", {}), candidate("toy-2", {})],
      [lost("a", red, { refused: true }), lost("b", blue)],
      "ambiguous toy-1 toy-2",
    ],
    [
      "a refusal is no proof where nothing else was lost",
      [candidate("toy-1", {})],
      [lost("a", red, { refused: true })],
      "a=toy-1",
    ],
    [
      "what says that it is older is in doubt",
      [candidate("toy-1", {}, start - 3_600_000)],
      [lost("a", red)],
      "doubtful toy-1",
    ],
    [
      "what is older is nobody's where all are found",
      [candidate("toy-1", {}, start - 3_600_000), candidate("toy-2", {})],
      [lost("a", red)],
      "a=toy-2",
    ],
    [
      "what is listed and not described may be it",
      [candidate("toy-1", undefined)],
      [lost("a", red)],
      "wait 70000",
    ],
  ])("%s", (_, candidates, creates, expected) => {
    expect(verdict(candidates, creates)).toBe(expected);
  });

  it("are not matched before everything that was made must be shown: the first one may be a stranger's", () => {
    const one = [candidate("toy-1", red)];
    expect(verdict(one, [lost("a", red)], start + 29_999)).toBe("wait 30000");
    expect(verdict(one, [lost("a", red)], start + 30_000)).toBe("a=toy-1");
  });

  it("are not waited for without end: what is listed and never described is gone", () => {
    expect(verdict([candidate("toy-1", undefined)], [lost("a", red)], start + 70_000)).toBe("a-");
  });
});

describe("objects that say whose they are", () => {
  const strangers = Array.from({ length: 50 }, (_, at) => candidate(`other-${at}`, {}));

  it.each<[string, readonly Candidate[], readonly LostCreate[], string]>([
    [
      "is found among fifty that look the same",
      [...strangers, marked(candidate("toy-1", {}), "toys.a")],
      [lost("a", red)],
      "a=toy-1",
    ],
    [
      "another state's is not ours",
      [marked(candidate("toy-1", {}), "toys.a", "theirs")],
      [lost("a", red)],
      "a-",
    ],
    ["another address's is not its", [marked(candidate("toy-1", {}), "toys.b")], [lost("a", red)], "a-"],
    [
      "two with one mark are nobody's guess",
      [marked(candidate("toy-1", {}), "toys.a"), marked(candidate("toy-2", {}), "toys.a")],
      [lost("a", red)],
      "ambiguous toy-1 toy-2",
    ],
    ["one that shows marks and none of ours is another's", [unmarked("toy-1")], [markedLost("a", red)], "a-"],
    ["whatever it shows where the create carried no mark", [unmarked("toy-1")], [lost("a", red)], "a=toy-1"],
    [
      "what has none goes by its fields",
      [marked(candidate("toy-1", {}), "toys.a"), candidate("toy-2", {})],
      [lost("a", red), lost("b", blue)],
      "a=toy-1 b=toy-2",
    ],
  ])("%s", (_, candidates, creates, expected) => {
    expect(verdict(candidates, creates)).toBe(expected);
  });
});
