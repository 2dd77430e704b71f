import { describe, expect, it } from "vitest";
import { fieldRows, type KindSchema } from "../../src/model/field-schema.ts";
import { naming } from "../../src/model/manifest.ts";
import type { Live } from "../../src/model/observed.ts";
import { referenceFields } from "../../src/model/templates.ts";
import { preconditionText } from "../../src/model/values.ts";
import { growth } from "../support/work.ts";

const schema: KindSchema = {
  type: "object",
  properties: {
    home: { type: "string", "x-reference": { section: "houses", output: "id" }, "x-place": true },
    config: {
      type: "object",
      properties: {
        memory: { type: "string", "x-compare": "size" },
        account: {
          type: "string",
          "x-create-only": true,
          "x-reference": { section: "accounts", output: "configId" },
        },
      },
    },
    colour: { type: "string" },
  },
};

const rows = fieldRows(schema);

const live: Live = {
  id: "toy-1",
  phase: { is: "ready", detail: "" },
  spec: {
    home: { value: "h-1", source: "described" },
    "config.account": { value: "c-9", source: "echoed" },
    colour: { value: "h-1", source: "described" },
  },
  outputs: {},
};

describe("references", () => {
  it("are found in the table, however deep", () => {
    expect(referenceFields(schema)).toEqual([
      { path: "home", section: "houses", output: "id", place: true, holds: false },
      { path: "config.account", section: "accounts", output: "configId", place: false, holds: true },
    ]);
  });

  it("are named by the output that they stand for", () => {
    const outputs = new Map([
      ["houses.old", { id: "h-1" }],
      ["accounts.prod", { id: "x", configId: "c-9" }],
    ]);
    const { spec } = naming(outputs)(live, schema);
    expect(spec["home"]).toEqual({ value: "old", source: "described" });
    expect(spec["config.account"]).toEqual({ value: "prod", source: "echoed" });
    expect(spec["colour"]?.value).toBe("h-1");
  });

  it("cost ten times as much for ten times as many", async () => {
    const ids = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `h-${at}`);
    const name = (all: readonly string[]): unknown => {
      const named = naming(new Map(all.map((id, at) => [`houses.h${at}`, { id }])));
      return all.map((id) => named({ ...live, spec: { home: { value: id, source: "described" } } }, schema));
    };
    expect(await growth(name, ids(100), ids(1000))).toBeLessThan(13);
  });

  it("keep the key of one of several", () => {
    const { spec } = naming(new Map([['houses.row["7"]', { id: "h-1" }]]))(live, schema);
    expect(spec["home"]?.value).toBe('row["7"]');
  });

  it("stay ids where nobody has them, and where another section has them", () => {
    expect(naming(new Map([["accounts.prod", { id: "h-1" }]]))(live, schema)).toBe(live);
  });
});

describe("a precondition", () => {
  const checked = ["colour", "size", "config.memory"];
  const text = (over: Live["spec"], checks: readonly string[] = checked): string =>
    preconditionText({ ...live, spec: { ...live.spec, ...over } }, checks, { "config.memory": "6GB" }, rows);

  it.each<[string, Live["spec"], boolean]>([
    ["another value of what it checks", { colour: { value: "red", source: "described" } }, false],
    ["another value of what it does not check", { home: { value: "h-2", source: "described" } }, true],
    ["a value that only the state knows", { "config.memory": { value: "6GB", source: "recorded" } }, true],
    ["a value that is shown by now", { size: { value: 1, source: "described" } }, false],
    ["what was last applied, shown by now", { "config.memory": { value: "6144MB", source: "echoed" } }, true],
    ["other than what was last applied", { "config.memory": { value: "8GB", source: "echoed" } }, false],
    ["another source", { colour: { value: "h-1", source: "echoed" } }, true],
  ])("with %s", (_, over, same) => {
    expect(text(over) === text({})).toBe(same);
  });

  it("is about one object", () => {
    expect(preconditionText({ ...live, id: "toy-2" }, [], {}, rows)).not.toBe(
      preconditionText(live, [], {}, rows),
    );
    expect(preconditionText(undefined, [], {}, rows)).not.toBe(preconditionText(live, [], {}, rows));
  });
});
