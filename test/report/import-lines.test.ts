import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Change, MayBe } from "../../src/model/plan.ts";
import { makePalette } from "../../src/report/typeset.ts";
import { importTitle } from "../../src/report/view/report-view.ts";
import { text } from "./arbitraries.ts";
import { change, database, plan } from "./plan-parts.ts";
import { planMarkdown, planText, planView } from "./rendered.ts";
import { words } from "./words.ts";

function create(address: string, is: MayBe["is"], count: number, ...ids: readonly string[]): Change {
  const only = ids[0] ?? "";
  const reason =
    is === "alike" ? `the state knows nothing, and ${only} is there already` : "does not exist yet";
  const guard = {
    code: "may-exist",
    message: `${only} exists already under this name, and this state does not know whose it is`,
    lift: `graphform import ${address} ${only}, or another name`,
  };
  return change("create", address, {
    reason,
    after: database("r", {}),
    mayBe: { is, ids, count },
    blocked: is === "alike" ? [] : [guard],
  });
}

const lines = (changes: readonly Change[]): readonly string[] => planView(plan({ changes }), words).imports;

describe("imports of what may be there already", () => {
  it.each<[string, readonly Change[], readonly string[]]>([
    ["none, if nothing may be there", [change("create", "instances.a", {})], []],
    [
      "one section for all, by address, whatever it shows",
      [
        create('instances.c["eu"]', "alike", 1, "i-3"),
        create("instances.b", "named", 1, "i-2"),
        create("instances.a", "marked", 1, "7"),
      ],
      [
        "imports:",
        '  - { address: instances.a, id: "7" }',
        "  - { address: instances.b, id: i-2 }",
        '  - { address: "instances.c[\\"eu\\"]", id: i-3 }',
      ],
    ],
    [
      "a comment where a person has to decide: several objects for one resource, one object for several",
      [
        create("instances.a", "alike", 5, "i-1", "i-2", "i-3"),
        create("instances.b", "alike", 1, "i-9"),
        create("instances.c", "alike", 1, "i-9"),
      ],
      [
        "imports:",
        "  # - { address: instances.a, id: ID } # may be i-1, i-2, i-3 and 2 more",
        "  # - { address: instances.b, id: ID } # may be i-9",
        "  # - { address: instances.c, id: ID } # may be i-9",
      ],
    ],
    [
      "ids of two kinds are not one object",
      [create("instances.a", "alike", 1, "1x"), create("networks.a", "named", 1, "1x")],
      ["imports:", '  - { address: instances.a, id: "1x" }', '  - { address: networks.a, id: "1x" }'],
    ],
  ])("%s", (_, changes, expected) => {
    expect(lines(changes)).toEqual(expected);
  });

  it("are YAML that gives the same id, and are no expression, whatever the id", () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.constantFrom("true", "12", "${a}", "a: b", "`x`")), (id) => {
        const read: unknown = parse(lines([create("instances.a", "named", 1, id)]).join("\n"));
        expect(read).toEqual({
          imports: [{ address: "instances.a", id: id.replaceAll("${", () => "$${") }],
        });
      }),
    );
  });

  it("of 40 lost databases stand once in text and Markdown, whole, under one block of creates", () => {
    const made = plan({
      changes: Array.from({ length: 40 }, (_, at) => {
        const key = String(at).padStart(2, "0");
        return create(`instances.n${key}`, at % 2 === 0 ? "alike" : "named", 1, `instance-${key}`);
      }),
    });
    const asText = planText(made, words, { palette: makePalette(false), width: 80 });
    const block = lines(made.changes).join("\n");
    expect(block.split("\n")).toHaveLength(41);
    expect(asText).toContain(`\n${importTitle}\n\n${block}\n\n`);
    expect(asText.split("graphform import")).toHaveLength(2);
    expect(asText.split("the state knows nothing")).toHaveLength(2);
    expect(planMarkdown(made, words)).toContain(`${importTitle}:\n\n\`\`\`yaml\n${block}\n\`\`\`\n`);
  });
});
