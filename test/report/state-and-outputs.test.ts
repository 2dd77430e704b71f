import { describe, expect, it } from "vitest";
import { rawValue } from "../../src/commands/show.ts";
import type { RecordedOutput, StateDocument } from "../../src/model/state.ts";
import { makePalette } from "../../src/report/typeset.ts";
import { sealed } from "./plan-parts.ts";
import { outputsJson, outputsText, stateText } from "./rendered.ts";
import { words } from "./words.ts";

const palette = makePalette(false);

const outputs: StateDocument["outputs"] = {
  port: { value: 6379, sensitive: false },
  endpoint: { value: "orders.example.net:6379", sensitive: false },
  hidden: { value: "only by name", sensitive: true },
  password: { value: sealed("orders"), sensitive: true },
  list: { value: ["a", 1], sensitive: false },
  text: { value: "one\ntwo\u001b", sensitive: false },
};

const state: StateDocument = {
  version: 2,
  name: "shop-prod",
  lineage: "6f1c2a9e",
  serial: 12,
  key: "0123456789abcdef-the-key",
  savedAt: "2026-03-02T08:30:00.000Z",
  resources: {
    "users.reader": {
      kind: "users",
      id: "reader",
      place: {},
      recorded: { password: "in clear by mistake", acl: "~* +INFO" },
      protect: false,
      onDelete: "delete",
      refs: ["instances.orders"],
      createdAt: "2026-02-01T10:00:00.000Z",
    },
    "instances.orders": {
      kind: "instances",
      id: "instance-7c1e09",
      place: { tier: "enterprise", component: "single-zone" },
      recorded: {
        "config.maxMemory": "6GB",
        "config.graphdbPassword": sealed("orders"),
        region: "us-east-1",
      },
      protect: true,
      onDelete: "backup",
      refs: [],
      createdAt: "2026-02-01T10:00:00.000Z",
      converging: {
        operation: "update",
        since: "2026-03-02T08:29:00.000Z",
        record: { "config.graphdbPassword": sealed("next") },
      },
    },
  },
  intents: {
    "instances.cache": {
      round: "x",
      digest: "d",
      startedAt: "2026-03-02T08:28:00.000Z",
      recorded: { "config.graphdbPassword": sealed("cache") },
      protect: true,
      onDelete: "delete",
      refs: [],
    },
  },
  rounds: { x: { kind: "instances", place: {}, classKey: "x", before: [] } },
  appliedPlans: [],
  outputs,
};

describe("stateText", () => {
  it("shows what is remembered, and no secret", () => {
    const text = stateText(state, words, { palette, width: 80 });
    expect(text).toMatchInlineSnapshot(`
      "State of shop-prod · 2 resources, serial 12, saved 2026-03-02T08:30:00.000Z

      instances.orders (instance-7c1e09)
        place      tier "enterprise", component "single-zone"
        created    2026-02-01T10:00:00.000Z
        on delete  backup, protected
        … still converging: update since 2026-03-02T08:29:00.000Z; the next apply
          continues to wait
        last applied
          config.graphdbPassword  (sensitive)
          config.maxMemory        "6GB"
          region                  "us-east-1"

      users.reader (reader)
        created    2026-02-01T10:00:00.000Z
        on delete  delete
        refers to  instances.orders
        last applied
          acl       "~* +INFO"
          password  (sensitive)

      instances.cache (create not confirmed)
        … create started 2026-03-02T08:28:00.000Z, answer unknown; the next run looks
          for the object before it plans

      Outputs
        endpoint = "orders.example.net:6379"
        hidden   = (sensitive)
        list     = ["a",1]
        password = (sensitive)
        port     = 6379
        text     = "one\\ntwo\\u001b"
      "
    `);
    expect(text).not.toMatch(/hmac-|by mistake|the-key/);
  });
});

describe("outputs", () => {
  const one = (name: string): RecordedOutput => outputs[name] ?? { value: null, sensitive: false };

  it("are listed by name", () => {
    expect(outputsText(outputs, palette)).toMatchInlineSnapshot(`
      "endpoint = "orders.example.net:6379"
      hidden   = (sensitive)
      list     = ["a",1]
      password = (sensitive)
      port     = 6379
      text     = "one\\ntwo\\u001b"
      "
    `);
    expect(outputsText({}, palette)).toBe("No outputs are recorded.\n");
  });

  it("as JSON have Terraform's shape", () => {
    expect(outputsJson(outputs)).toMatchObject({
      port: { sensitive: false, type: "number", value: 6379 },
      list: { type: ["tuple", ["string", "number"]] },
      hidden: { sensitive: true, value: "(sensitive)" },
      password: { sensitive: true, type: "string", value: "(sensitive)" },
    });
  });

  it.each([
    ["text", "endpoint", "orders.example.net:6379"],
    ["a number", "port", "6379"],
    ["a sensitive one that was asked for by name", "hidden", "only by name"],
    ["several lines, and nothing that steers", "text", "one\ntwo\\u001b"],
  ])("raw: %s", (_, name, value) => {
    expect(rawValue(name, one(name))).toBe(value);
  });

  it.each([
    ["a secret", "password", "output-secret"],
    ["a list", "list", "output-not-text"],
  ])("raw refuses %s", (_, name, code) => {
    expect(() => rawValue(name, one(name))).toThrow(
      expect.objectContaining({ code, hint: expect.any(String) }),
    );
  });
});
