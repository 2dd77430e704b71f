import { describe, expect, it } from "vitest";
import { type LostCreate, matchCandidates, type Ours } from "../../src/apply/evidence/candidates.ts";
import type { Json } from "../../src/model/json.ts";
import type { Live } from "../../src/model/observed.ts";
import { toySchema } from "../support/toy-kind.ts";

const start = Date.UTC(2026, 0, 1);

type Values = { readonly [path: string]: Json };

function lost(name: string, recorded: Values, over: { readonly refused?: true } = {}): LostCreate {
  const intent = {
    round: "r",
    digest: "",
    startedAt: new Date(start).toISOString(),
    sentAfter: new Date(start).toISOString(),
    recorded,
    protect: false,
    onDelete: "delete" as const,
    refs: [],
    ...over,
  };
  return { address: `toys.${name}`, intent, endedAt: start };
}

function candidate(id: string, shows: Values, createdAt: number | undefined = start): Live {
  const spec = Object.entries(shows).map(
    ([path, value]) => [path, { value, source: "described" as const }] as const,
  );
  return {
    id,
    phase: { is: "ready", detail: "" },
    spec: Object.fromEntries(spec),
    outputs: {},
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** The same object without a creation time. */
function undated({ createdAt: _, ...live }: Live): Live {
  return live;
}

/** The same object with the mark of a create. */
function marked(live: Live, address: string, lineage = "ours"): Live {
  return { ...live, owner: { lineage, address } };
}

/** An object that shows marks, and none of ours. */
function unmarked(id: string): Live {
  return { ...candidate(id, {}), owner: null };
}

/** An object that shows where marks would be, and has none. */
function bare(id: string, createdAt = start): Live {
  return { ...candidate(id, {}, createdAt), owner: null, isBare: true };
}

/** A create that carried its mark. */
function markedLost(name: string, recorded: Values): LostCreate {
  const create = lost(name, recorded);
  return { ...create, intent: { ...create.intent, marked: true } };
}

/** The verdict in short: `a=toy-1 b~toy-2 c-`, `~` where it may be another's, `-` where nothing was made. */
function verdict(
  candidates: readonly Live[],
  creates: readonly LostCreate[],
  over: Partial<Ours> = {},
): string {
  const ours = {
    schema: toySchema,
    lineage: "ours",
    keepsMarks: false,
    keepsTime: true,
    until: start + 30_000,
    clock: 1000,
  };
  const matching = matchCandidates(candidates, creates, { ...ours, ...over });
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
  it.each<[string, readonly Live[], boolean, string]>([
    [
      "nothing is guessed: it may be ours without its mark, or another's",
      [bare("toy-1")],
      false,
      "doubtful toy-1",
    ],
    ["it is another's where ours are known to keep their marks", [bare("toy-1")], true, "a-"],
    [
      "what others show proves nothing of ours",
      [bare("toy-1"), marked(candidate("toy-2", {}), "toys.z", "theirs")],
      false,
      "doubtful toy-1",
    ],
    [
      "it does not matter where ours is found by its mark",
      [bare("toy-1"), marked(candidate("toy-2", {}), "toys.a")],
      false,
      "a=toy-2",
    ],
    ["it is not ours where it is too old", [bare("toy-1", start - 3_600_000)], false, "a-"],
  ])("without any mark: %s", (_, candidates, keepsMarks, expected) => {
    expect(verdict(candidates, [markedLost("a", red)], { keepsMarks })).toBe(expected);
  });

  it.each<[string, Live, string]>([
    ["was made while the create was on its way", candidate("toy-1", {}, start + 29_000), "a=toy-1"],
    ["was made a moment before", candidate("toy-1", {}, start - 1000), "a=toy-1"],
    [
      "was made minutes before, and one list had lacked it",
      candidate("toy-1", {}, start - 60_000),
      "doubtful toy-1",
    ],
    ["was made fifteen minutes before", candidate("toy-1", {}, start - 900_000), "doubtful toy-1"],
    ["is older than that", candidate("toy-1", {}, start - 900_001), "a-"],
    ["was made after the answer was lost", candidate("toy-1", {}, start + 31_001), "doubtful toy-1"],
    ["does not say when", undated(candidate("toy-1", {})), "doubtful toy-1"],
    ["does not say when, and shows something else", undated(candidate("toy-1", { colour: "black" })), "a-"],
  ])("are told by their times: one that %s", (_, live, expected) => {
    expect(verdict([live], [lost("a", red)])).toBe(expected);
  });

  it("are not told by an old time where none of ours has shown a true one: the service's clocks may be hours apart", () => {
    const old = candidate("toy-1", {}, start - 7_200_000);
    expect(verdict([old], [lost("a", red)], { keepsTime: false })).toBe("doubtful toy-1");
  });

  it.each<[string, Partial<Ours>, string]>([
    ["the first of its state goes by its time", {}, "doubtful toy-1"],
    ["where ours were seen to show theirs it decides alone", { keepsMarks: true }, "a=toy-1"],
  ])("are told by marks: %s", (_, over, expected) => {
    const old = marked(candidate("toy-1", {}, start - 60_000), "toys.a");
    expect(verdict([old], [markedLost("a", red)], over)).toBe(expected);
  });

  it("are known by what somebody has changed of a marked one since, and never made twice", () => {
    const changed = marked(candidate("toy-1", { colour: "black" }), "toys.a");
    expect(verdict([changed], [markedLost("a", red)])).toBe("doubtful toy-1");
    expect(verdict([changed], [markedLost("a", red)], { keepsMarks: true })).toBe("a=toy-1");
  });

  it.each<[string, Live, string]>([
    ["has it", undated(candidate("toy-1", { colour: "red" })), "a=toy-1"],
    ["has another one", undated(candidate("toy-1", { colour: "Red" })), "a-"],
    ["does not show it", undated(candidate("toy-1", {})), "doubtful toy-1"],
  ])("are told by their names where a kind has names: one that %s", (_, live, expected) => {
    expect(verdict([live], [lost("a", red)], { namedBy: "colour" })).toBe(expected);
  });

  it.each<[string, readonly Live[], readonly LostCreate[], string]>([
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
      "a refused create has an object if one is left over: each is one that it can have made",
      [candidate("toy-1", {}), candidate("toy-2", {})],
      [lost("a", red, { refused: true }), lost("b", blue)],
      "a~toy-1 b~toy-2",
    ],
    [
      "of two refused creates one is left without, and the lost one never",
      [candidate("toy-1", {}), candidate("toy-2", {})],
      [lost("a", red, { refused: true }), lost("b", red, { refused: true }), lost("c", blue)],
      "a~toy-1 c~toy-2 b-",
    ],
    [
      "more objects than lost and refused creates together are a guess",
      [candidate("toy-1", {}), candidate("toy-2", {}), candidate("toy-3", {})],
      [lost("a", red, { refused: true }), lost("b", blue)],
      "ambiguous toy-1 toy-2 toy-3",
    ],
    [
      "a refused create that no update could bring to the other's spec is a guess",
      [candidate("toy-1", {}), candidate("toy-2", {})],
      [lost("a", large, { refused: true }), lost("b", blue)],
      "ambiguous toy-1 toy-2",
    ],
    [
      "a refusal is no proof where nothing else was lost",
      [candidate("toy-1", {})],
      [lost("a", red, { refused: true })],
      "a=toy-1",
    ],
    [
      "one that is gone is not",
      [{ ...candidate("toy-1", {}), phase: { is: "gone", detail: "" } }],
      [lost("a", red)],
      "a-",
    ],
    [
      "what is in doubt is nobody's where all are found",
      [candidate("toy-1", {}, start - 60_000), candidate("toy-2", {})],
      [lost("a", red)],
      "a=toy-2",
    ],
  ])("%s", (_, candidates, creates, expected) => {
    expect(verdict(candidates, creates)).toBe(expected);
  });
});

describe("objects that say whose they are", () => {
  const strangers = Array.from({ length: 50 }, (_, at) => candidate(`other-${at}`, {}));

  it.each<[string, readonly Live[], readonly LostCreate[], string]>([
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
