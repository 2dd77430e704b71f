import { describe, expect, it } from "vitest";
import { tableText } from "../../src/commands/terminal/table-text.ts";

const rows = [
  ["short", "one two three four five six seven eight"],
  ["a-name-that-leaves-no-room-at-all", "one two three"],
];

describe("a table", () => {
  it("breaks no line where it goes to a file or a pipe", () => {
    const lines = tableText(["field", "description"], rows, { colour: false }).split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[1]).toBe(`short${" ".repeat(30)}one two three four five six seven eight`);
  });

  it("goes on below its last column on a narrow terminal, and breaks between words only", () => {
    expect(tableText(["field", "description"], rows, { colour: false, columns: 40 })).toBe(
      [
        "field               description",
        "short               one two three four",
        "                    five six seven eight",
        "a-name-that-leaves-no-room-at-all",
        "                    one two three",
        "",
      ].join("\n"),
    );
  });

  it("breaks a path behind its slashes", () => {
    const path = "/2022-09-01-00/resource-instance/{provider}/{service}/v1/prod/{id}";
    const text = tableText(["name", "path"], [["list", path]], { colour: false, columns: 40 });
    const lines = text.trimEnd().split("\n").slice(1);
    expect(lines.map((line) => line.slice(6)).join("")).toBe(path);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
  });
});
