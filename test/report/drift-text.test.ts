import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import type { DriftReport, FieldDrift, ResourceDrift } from "../../src/model/drift.ts";
import type { SourceRange } from "../../src/model/problem.ts";
import { driftJson } from "../../src/report/drift-json.ts";
import { driftSchema } from "../../src/report/drift-schema.ts";
import { driftText } from "../../src/report/drift-text.ts";
import { jsonText } from "../../src/report/json-text.ts";
import { makePalette } from "../../src/report/palette.ts";
import { words } from "./words.ts";

const at = (line: number, file = "graphform.yaml"): SourceRange => ({
  file,
  start: { line, column: 3 },
  end: { line, column: 9 },
});

const name: FieldDrift = {
  path: "config.name",
  class: "outside",
  reason: "changed outside",
  applied: "orders",
  seen: "orders-2",
  source: "echoed",
  declared: "orders",
  secret: false,
  remedy: { effect: "in-place", disruption: "none" },
  where: at(11),
};
const orders: ResourceDrift = {
  address: "instances.orders",
  kind: "instances",
  id: "instance-1",
  class: "outside",
  what: "changed",
  reason: "2 fields were changed outside",
  since: "2026-03-02T14:03:09.120Z",
  where: at(7),
  fields: [
    { ...name, path: "config.description", declared: "third", where: at(3, "upper.yaml") },
    name,
    { ...name, path: "config.maxMemory", class: "cosmetic", reason: "the same value in another spelling" },
  ],
  events: [{ time: "2026-03-04T09:12:00Z", message: "instance modified", user: "kim@example.com" }],
};
const whole: DriftReport = {
  version: 1,
  name: "shop",
  timestamp: "2026-03-05T00:00:00.000Z",
  resources: [
    {
      ...orders,
      address: 'instances.cache["eu"]',
      what: "deleted",
      reason: "instance-2 is gone",
      fields: [],
      events: [],
    },
    orders,
    {
      ...orders,
      address: "users.reader",
      kind: "users",
      class: "ours",
      what: "unapplied",
      reason: "1 field differs",
      fields: [{ ...name, path: "password", class: "ours", secret: true, applied: "hunter2" }],
      events: [],
    },
  ],
  outputs: [{ name: "endpoint", sensitive: false, applied: "a:1", seen: "b:1" }],
  unmanaged: [{ kind: "instances", id: "instance-9", name: "somebody's" }],
  census: {
    declared: 5,
    checked: 3,
    skipped: 1,
    unmanaged: 1,
    fields: { probed: 2, described: 10, echoed: 4, recorded: 7 },
    notChecked: [{ address: "instances.new", reason: "does not exist yet" }],
    unfinished: [{ address: "instances.slow", reason: "still DEPLOYING" }],
  },
  complete: true,
};

function textOf(report: DriftReport, width = 100, verbose = false): string {
  return driftText(report, words, { palette: makePalette(false), width, verbose });
}

describe("a drift report as text", () => {
  it("has the worst first, each thing with its place, its source and its time, the ways out, and what was seen", () => {
    expect(textOf(whole)).toBe(`Drift of shop

Deleted outside (1)

  - instances.cache["eu"] (instance-1)                                              graphform.yaml:7
    instance-2 is gone; last seen right 2026-03-02 14:03 UTC

Changed outside (1)

  ! instances.orders (instance-1)                                                   graphform.yaml:7
    2 fields were changed outside; last seen right 2026-03-02 14:03 UTC
    2026-03-04 09:12 UTC kim@example.com: instance modified
    ! config.description  "orders" → "orders-2" (echoed)  # upper.yaml:3, declared "third"
    ! config.name         "orders" → "orders-2" (echoed)  # line 11

Not applied yet (1) · the manifest has changed, not the world: no drift

  ~ users.reader (instance-1)                                                       graphform.yaml:7
    1 field differs
    ~ password  (sensitive) (echoed) → (sensitive)  # line 11

Not declared (1)

  ? instance instance-9 "somebody's"
    way out: declare it and bind it with graphform import ADDRESS ID, or delete it at the service

Way out
  graphform plan shows what putting it back takes; graphform apply does it
  graphform drift --adopt instances.orders.config.description writes the live value into the
  manifest
  deleted, and that is meant: remove the block, or list the address under removed

Checked   5 declared, 3 checked, 1 skipped, 1 unmanaged
          values: 2 read from the database, 10 read from the service, 4 echoed back, 7 remembered
          not checked: instances.new: does not exist yet
          not at rest: instances.slow: still DEPLOYING; look again when it is

Also: 1 resource with changes that are not applied yet, 2 differences that do not matter
(--verbose).
Drift: 2 resources changed outside, 1 not declared. 16 of 23 values were seen; 7 are only remembered
from the last apply.
`);
  });

  it("lists what does not matter where that is asked for", () => {
    const text = textOf(whole, 100, true);
    expect(text).toMatch(/[=] config\.maxMemory .*\n.*the same value in another spelling/);
    expect(text).toMatch(/[=] endpoint +"a:1" → "b:1"/);
  });

  it("fits 60 columns but for words that are longer", () => {
    const long = textOf(whole, 60)
      .split("\n")
      .filter((line) => line.length > 60);
    expect(long.filter((line) => !line.includes("--adopt"))).toEqual([]);
  });

  it("lets nothing of the service or the manifest control the terminal, and shows no secret", () => {
    const evil = "\u001b[31m\u202e\n::error::";
    const report = {
      ...whole,
      name: evil,
      resources: [
        {
          ...orders,
          id: evil,
          reason: evil,
          fields: [{ ...name, seen: evil, path: evil }],
          events: [{ time: evil, message: evil, user: evil }],
        },
      ],
      unmanaged: [{ kind: evil, id: evil, name: evil }],
      census: { ...whole.census, notChecked: [{ address: evil, reason: evil }] },
    };
    const text = textOf(report, 100, true);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]|^::error/m);
    expect(textOf(whole, 100, true)).not.toContain("hunter2");
  });
});

describe("a drift report as JSON", () => {
  const validate = new Ajv({ allowUnionTypes: true }).compile(driftSchema);

  it("follows its schema, has sorted keys, and no secret", () => {
    for (const report of [whole, { ...whole, resources: [], outputs: [], complete: false }]) {
      const json = driftJson(report, words);
      expect(validate(json) ? [] : validate.errors).toEqual([]);
      expect(jsonText(json)).not.toContain("hunter2");
      expect(Object.keys(JSON.parse(jsonText(json)))).toEqual(Object.keys(json).sort());
    }
  });

  it("that says something else does not follow it", () => {
    expect(validate({ ...driftJson(whole, words), extra: 1 })).toBe(false);
    expect(validate({ ...driftJson(whole, words), errored: true })).toBe(false);
  });
});
