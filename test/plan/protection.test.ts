import { describe, expect, it } from "vitest";
import { kindRegistry } from "../../src/model/kind.ts";
import { type Case, planOf, type Rest } from "../support/plan-input.ts";
import { toyKind } from "../support/toy-kind.ts";

/** The guards that a plan tells the state to remember of a toy; undefined where it leaves them as they are. */
function remembered(toy: Case, rest: Rest = {}): string | undefined {
  const step = planOf({ a: toy }, rest).steps.find(({ operation }) => operation === "bind");
  if (step === undefined) return undefined;
  const { protect, onDelete, refs = [] } = step;
  return [protect === true ? "protected" : "free", onDelete, ...refs].join(" ");
}

const same = { wants: { size: 1 }, has: { size: 1 } };
const resized = { wants: { size: 2 }, has: { size: 1 } };
const small = kindRegistry([toyKind(undefined, { protectedByDefault: (spec) => spec["size"] === 1 })]);

describe("the guards that the state remembers", () => {
  it.each<[string, Case, Rest, string | undefined]>([
    ["stay as they are", same, {}, undefined],
    [
      "follow what is declared",
      {
        ...same,
        lifecycle: { protect: true, onDelete: "backup" },
        remembered: { protect: false, onDelete: "delete" },
      },
      {},
      "protected backup",
    ],
    [
      "are lifted where the block says so",
      { ...same, lifecycle: { protect: false }, remembered: { protect: true } },
      {},
      "free delete",
    ],
    [
      "are not lifted where the block says nothing",
      { ...same, remembered: { protect: true } },
      {},
      undefined,
    ],
    [
      "are not lifted by a change that is held back",
      { ...resized, lifecycle: { protect: false, onReplace: "refuse" }, remembered: { protect: true } },
      {},
      undefined,
    ],
    [
      "are not lifted by a change that is held back: nor is onDelete",
      { ...resized, lifecycle: { onReplace: "refuse" }, remembered: { onDelete: "backup" } },
      {},
      undefined,
    ],
    [
      "take over a declared protection all the same, and nothing else: the way out of onDelete would lift nothing",
      {
        ...resized,
        lifecycle: { protect: true, onDelete: "backup" },
        remembered: { protect: false, onDelete: "delete" },
      },
      {},
      "protected delete",
    ],
    ["are by default those of what exists", same, { kinds: small }, "protected delete"],
    [
      "keep the references of what exists, where the change is held back",
      {
        ...resized,
        refs: ["b"],
        boundRefs: ["c"],
        lifecycle: { onReplace: "refuse", protect: true },
        remembered: { protect: false },
      },
      {},
      "protected delete toys.c",
    ],
  ])("%s", (_, toy, rest, expected) => {
    expect(remembered(toy, rest)).toBe(expected);
  });
});

describe("a backup before a deletion", () => {
  const gone: Case = { has: { size: 1 }, remembered: { onDelete: "backup" } };
  const operations = (toy: Case, rest: Rest = {}): string =>
    planOf({ a: toy, other: same }, rest)
      .steps.map(
        ({ operation, verb = operation, blocked }) =>
          `${verb}${blocked.map(({ code }) => `!${code}`).join("")}`,
      )
      .join(" ");

  it.each<[string, Case, Rest, string]>([
    ["is a step of its own", gone, {}, "backup delete"],
    [
      "comes before a replacement",
      { ...resized, lifecycle: { onDelete: "backup" } },
      {},
      "backup delete create",
    ],
    [
      "comes before a replacement, also where only the last apply asked for it",
      { ...resized, remembered: { onDelete: "backup" } },
      {},
      "bind backup delete create",
    ],
    [
      "is taken of what is stopped once that is started",
      { ...gone, phase: "stopped" },
      {},
      "start backup delete",
    ],
    [
      "is taken of what is still being stopped once that is started",
      {
        ...gone,
        phase: "pending",
        converging: { operation: "stop", since: "2026-01-01T00:00:00.000Z", record: {} },
      },
      {},
      "start backup delete",
    ],
    [
      "starts what is replaced, and the new one is stopped as declared",
      {
        wants: { size: 2, power: "stopped" },
        has: { size: 1, power: "stopped" },
        phase: "stopped",
        lifecycle: { onDelete: "backup" },
      },
      {},
      "start backup delete create stop",
    ],
    [
      "holds the deletion back where nothing can start what is stopped",
      { ...gone, phase: "stopped" },
      {
        kinds: kindRegistry([
          toyKind(undefined, { operations: { ...toyKind().operations, power: ["toy.start"] } }),
        ]),
      },
      "start!not-offered backup!not-offered delete!not-offered",
    ],
    [
      "is not taken of what holds no data",
      gone,
      { kinds: kindRegistry([toyKind(undefined, { holdsData: false })]) },
      "delete",
    ],
    [
      "holds the deletion back where the service cannot show one",
      gone,
      {
        kinds: kindRegistry([
          toyKind(undefined, {
            operations: {
              list: "toy.list",
              create: "toy.create",
              update: "toy.update",
              delete: "toy.delete",
            },
          }),
        ]),
      },
      "backup!not-offered delete!not-offered",
    ],
  ])("%s", (_, toy, rest, expected) => {
    expect(operations(toy, rest)).toBe(expected);
  });
});
