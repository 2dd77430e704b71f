import { describe, expect, it } from "vitest";
import { ServiceError } from "../../src/model/errors.ts";
import type { Live } from "../../src/model/observed.ts";
import { lookFor, type SearchedPlace, type SearchVerdict } from "../../src/polling/prove-absence.ts";
import { toyProfile } from "../support/toy-kind.ts";
import { virtualClock } from "../support/virtual-clock.ts";

const longAgo = Number.NaN;
const live = (id: string): Live => ({ id, phase: { is: "ready", detail: "" }, spec: {}, outputs: { id } });

/** What the service shows at a time; ids that are described and not listed, and the reverse, are named apart. */
interface Shown {
  readonly listed: readonly string[];
  readonly described: readonly string[];
  readonly fails?: boolean;
  readonly isPartial?: boolean;
}

interface Found {
  readonly verdicts: ReadonlyMap<string, SearchVerdict>;
  /** Virtual ms until the verdict. */
  readonly after: number;
  readonly lists: number;
  readonly describes: readonly string[];
}

async function search(
  missing: readonly string[],
  shownAt: (now: number) => Shown,
  witnesses: readonly string[] = [],
): Promise<Found> {
  const clock = virtualClock(7);
  const begun = clock.now();
  let lists = 0;
  const describes: string[] = [];
  const shown = (): Shown => shownAt(clock.now() - begun);
  const fail = (operation: string): void => {
    if (shown().fails === true) throw new ServiceError("unavailable", operation, `${operation}: 503`);
  };
  const reader: SearchedPlace["reader"] = {
    list: async () => {
      lists += 1;
      fail("list");
      return shown().listed;
    },
    get: async ({ id }) => {
      describes.push(id);
      fail("get");
      return shown().described.includes(id) ? live(id) : undefined;
    },
    isPartial: () => shown().isPartial === true,
  };
  const known = [...missing, ...witnesses].map((id): [string, number] => [id, longAgo]);
  const context = { clock, profile: toyProfile, stopping: new AbortController().signal };
  const verdicts = await clock.drive(
    lookFor(
      new Map(missing.map((id) => [id, longAgo])),
      { place: {}, reader, witnesses: new Map(known) },
      context,
    ),
  );
  return { verdicts, after: clock.now() - begun, lists, describes };
}

const { listLag, settle } = toyProfile.timing;
const nothing: Shown = { listed: [], described: [] };
const is = ({ verdicts }: Found, id: string): SearchVerdict["is"] | undefined => verdicts.get(id)?.is;

describe("a search", () => {
  it("finds what was hidden for a moment with the first look that shows it", async () => {
    const found = await search(["a"], (now) => (now < 60 ? nothing : { listed: ["a"], described: ["a"] }));
    expect(found.verdicts.get("a")).toEqual({ is: "shown", live: live("a") });
    expect(found.after).toBeLessThan(settle);
  });

  it("proves an absence in a little more than settle", async () => {
    const found = await search(["a", "b"], () => nothing);
    expect([is(found, "a"), is(found, "b")]).toEqual(["absent", "absent"]);
    expect(found.after).toBeGreaterThanOrEqual(settle);
    expect(found.after).toBeLessThan(listLag);
  });

  it("ends in doubt if a list goes on lacking what describe shows", async () => {
    const found = await search(["a"], () => ({ listed: [], described: ["w"] }), ["w"]);
    expect(is(found, "a")).toBe("in-doubt");
    expect(found.after).toBeGreaterThanOrEqual(listLag + 2 * settle);
    expect(found.after).toBeLessThan(listLag + 2 * settle + 2 * toyProfile.timing.poll.longest);
  });

  it("ends in doubt if the list goes on saying that it is not all", async () => {
    expect(is(await search(["a"], () => ({ ...nothing, isPartial: true })), "a")).toBe("in-doubt");
  });

  it("ends in doubt if the service goes on answering with errors", async () => {
    expect(is(await search(["a"], () => ({ ...nothing, fails: true })), "a")).toBe("in-doubt");
  });

  it("believes describe, if lists go on showing an object for listLag", async () => {
    const found = await search(["a"], () => ({ listed: ["a"], described: [] }));
    expect(is(found, "a")).toBe("absent");
    expect(found.after).toBeGreaterThanOrEqual(listLag);
  });

  it("describes no witness that the list has, and of those that it lacks only as many as it takes", async () => {
    const whole = await search(["a"], () => ({ listed: ["v", "w"], described: ["v", "w"] }), ["v", "w"]);
    expect(new Set(whole.describes)).toEqual(new Set(["a"]));
    const lacking = await search(["a"], () => ({ listed: [], described: ["v", "w"] }), ["v", "w"]);
    expect(new Set(lacking.describes)).toEqual(new Set(["a", "v"]));
  });

  it("asks only for what is not decided yet", async () => {
    const shown = { listed: ["a"], described: ["a"] };
    const found = await search(["a", "b"], () => shown);
    expect(found.describes.filter((id) => id === "a")).toEqual(["a"]);
    expect([is(found, "a"), is(found, "b")]).toEqual(["shown", "absent"]);
  });

  it("ends with the first failure that will not pass", async () => {
    const reader: SearchedPlace["reader"] = {
      list: async () => [],
      get: () => Promise.reject(new ServiceError("forbidden", "get", "get: 403")),
    };
    const clock = virtualClock(7);
    const context = { clock, profile: toyProfile, stopping: new AbortController().signal };
    const place = { place: {}, reader, witnesses: new Map() };
    await expect(clock.drive(lookFor(new Map([["a", longAgo]]), place, context))).rejects.toThrow("403");
  });
});
