import { describe, expect, it } from "vitest";
import { kindRegistry } from "../../src/model/kind.ts";
import { withDeclaredGuards } from "../../src/plan/guards/plan-guards.ts";
import { type Case, planInput, removalOf, somewhere } from "../support/plan-input.ts";
import { toyKind } from "../support/toy-kind.ts";

const careful = kindRegistry([toyKind(undefined, { protectedByDefault: () => true })]);
const there: Case = { wants: {}, has: {}, remembered: { protect: false, onDelete: "delete" } };

/** What destroy goes by for one toy. */
function guardsOf(toy: Case, rest: Parameters<typeof planInput>[1] = {}): object {
  const input = planInput({ a: toy }, rest);
  const [bound] = Object.values(withDeclaredGuards(input.state, input).resources);
  return { protect: bound?.protect, onDelete: bound?.onDelete };
}

describe("destroy goes by what the manifest says now, applied or not", () => {
  it.each<[string, Case, object]>([
    [
      "protection that was added",
      { ...there, lifecycle: { protect: true } },
      { protect: true, onDelete: "delete" },
    ],
    [
      "protection that was lifted",
      { ...there, remembered: { protect: true }, lifecycle: { protect: false } },
      { protect: false, onDelete: "delete" },
    ],
    [
      "what is to become of it",
      { ...there, lifecycle: { protect: false, onDelete: "backup" } },
      { protect: false, onDelete: "backup" },
    ],
    [
      "protection that no longer stands there, and was not lifted",
      { ...there, remembered: { protect: true } },
      { protect: true, onDelete: "delete" },
    ],
    [
      "what was to become of it, where that was more careful",
      { ...there, remembered: { protect: false, onDelete: "retain" }, lifecycle: { onDelete: "backup" } },
      { protect: false, onDelete: "retain" },
    ],
    [
      "what has no block keeps what is remembered",
      { has: {}, remembered: { protect: true, onDelete: "retain" } },
      { protect: true, onDelete: "retain" },
    ],
  ])("%s", (_, toy, expected) => {
    expect(guardsOf(toy)).toEqual(expected);
  });

  it("a block that says nothing is protected where its kind is", () => {
    expect(guardsOf(there, { kinds: careful })).toEqual({ protect: true, onDelete: "delete" });
  });

  it("a block that is left out lifts a remembered protection at once, and a remembered onDelete never", () => {
    const { wants: _, ...gone } = there;
    const toy: Case = { ...gone, remembered: { protect: true, onDelete: "retain" } };
    const lifecycle = {
      protect: false,
      onReplace: "refuse",
      onDelete: "delete",
      ignoreChanges: [],
      dependsOn: [],
    } as const;
    expect(guardsOf(toy, { removed: [removalOf("a", true, { lifecycle })] })).toEqual({
      protect: false,
      onDelete: "retain",
    });
  });

  it("a block under a new name is its old one's", () => {
    const moved = [{ from: "toys.old", to: "toys.a", where: somewhere }];
    const input = planInput(
      {
        old: { has: {}, remembered: { protect: false } },
        a: { wants: {}, recorded: false, lifecycle: { protect: true } },
      },
      { moved },
    );
    expect(withDeclaredGuards(input.state, input).resources["toys.old"]?.protect).toBe(true);
  });
});
