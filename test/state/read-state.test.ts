import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isGraphformError } from "../../src/model/errors.ts";
import { stateFormatter } from "../../src/state/document.ts";
import { readState } from "../../src/state/read-state.ts";
import { stateSchema } from "../../src/state/state-schema.ts";
import { validators } from "../../src/state/validators.generated.js";
import { runs } from "../support/runs.ts";
import { sampleBound, sampleState } from "./samples.ts";

const whole = stateFormatter()(sampleState());

function refusal(text: string): {
  readonly code: string;
  readonly exitCode: number;
  readonly message: string;
  readonly hint: string;
} {
  try {
    readState(text, "shop.state.json", "shop");
  } catch (error) {
    if (!isGraphformError(error)) throw error;
    return { code: error.code, exitCode: error.exitCode, message: error.message, hint: error.hint ?? "" };
  }
  throw new Error("the state was accepted");
}

function changed(change: (state: { [key: string]: unknown }) => void): string {
  const state = JSON.parse(whole);
  change(state);
  return JSON.stringify(state);
}

describe("readState", () => {
  it("reads back what the formatter wrote", () => {
    expect(readState(whole, "shop.state.json", "shop")).toEqual(sampleState());
  });

  it("reads a state of any manifest where no name is given", () => {
    expect(
      readState(
        changed((state) => Object.assign(state, { name: "other" })),
        "f",
      ).name,
    ).toBe("other");
  });

  const terraform =
    '{"version":4,"terraform_version":"1.9.0","serial":3,"lineage":"x","outputs":{},"resources":[]}';
  it.each([
    ["an empty file", "", "state-truncated"],
    ["zeros, as a power failure leaves them", "\0".repeat(4096), "state-truncated"],
    ["half a state", whole.slice(0, whole.length / 2), "state-truncated"],
    ["a state without its last byte but the line end", whole.slice(0, -2), "state-truncated"],
    ["text", "hello", "state-foreign"],
    ["an archive", "PK\x03\x04\xff\xfe", "state-foreign"],
    ["two states in one file", whole + whole, "state-foreign"],
    ["merge conflict marks", `<<<<<<< HEAD\n${whole}`, "state-foreign"],
    ["a list", "[]", "state-foreign"],
    ["null", "null", "state-foreign"],
    ["an empty object", "{}", "state-foreign"],
    ["Terraform's state", terraform, "state-foreign"],
    ["an encrypted state", '{"encrypted_data":"x","encryption_version":"v0"}', "state-foreign"],
    [
      "a state of the next format",
      changed((state) => Object.assign(state, { version: 4, resources: [] })),
      "state-newer",
    ],
    ["a state of format 1", changed((state) => Object.assign(state, { version: 1 })), "state-foreign"],
    ["a state of format 0", changed((state) => Object.assign(state, { version: 0 })), "state-foreign"],
    ["another manifest's state", changed((state) => Object.assign(state, { name: "other" })), "state-name"],
    [
      "a state that was never written",
      changed((state) => Object.assign(state, { serial: 0 })),
      "state-foreign",
    ],
    ["a key that is too short", changed((state) => Object.assign(state, { key: "ab" })), "state-foreign"],
    ["a member that we do not write", changed((state) => Object.assign(state, { extra: 1 })), "state-newer"],
    ["a missing member", changed((state) => Reflect.deleteProperty(state, "appliedPlans")), "state-foreign"],
    [
      "an address that is none",
      changed((state) => Object.assign(state, { resources: { "../x": sampleBound("i") } })),
      "state-foreign",
    ],
    ["a binding named __proto__", whole.replace('"instances.db0"', '"__proto__"'), "state-foreign"],
    [
      "a binding without an id",
      changed((state) =>
        Object.assign(state, { resources: { "instances.a": { ...sampleBound(""), id: "" } } }),
      ),
      "state-foreign",
    ],
  ])("refuses %s", (_, text, code) => {
    const found = refusal(text);
    expect(found).toMatchObject({ code, exitCode: 1 });
    expect(found.message).toContain("shop.state.json");
    expect(found.message).not.toMatch(/^[A-Z]/);
    expect(found.hint).not.toBe("");
  });

  it("refuses every state that breaks off, wherever it does", () => {
    for (let end = 0; end < whole.length - 1; end += 1)
      expect(refusal(whole.slice(0, end)).code).toBe("state-truncated");
  });

  it.each([
    ["a member named __proto__", whole.replace('"lineage"', '"__proto__": {"serial": 1}, "lineage"')],
    ["one that brings all it needs by __proto__", '{"name":"shop","lineage":"x","__proto__":{"serial":1}}'],
    ["a binding of a kind named __proto__ alone", whole.replace('"kind"', '"__proto__"')],
    ["a number beyond all", whole.replace('"serial": 1', '"serial": 1e400')],
    ["a fraction", whole.replace('"serial": 1', '"serial": 1.5')],
    ["lists within lists", whole.replace('"serial": 1', `"serial": ${"[".repeat(2000)}${"]".repeat(2000)}`)],
    ["a second resources that is none", whole.replace(/\}\s*$/, ',"resources":[]}')],
  ])("refuses %s", (_, text) => {
    expect(text).not.toBe(whole);
    expect(["state-foreign", "state-newer"]).toContain(refusal(text).code);
    expect(refusal(text).hint).toContain("it was left as it is");
  });

  it.each<readonly [path: readonly string[], value: unknown, words: string]>([
    [["resources", "instances.db0", "protect"], 1, 'resources["instances.db0"].protect is not a boolean'],
    [["resources", "instances.db0", "refs"], {}, 'resources["instances.db0"].refs is not an array'],
    [["resources", "instances.db0", "refs"], ["a", 1], 'resources["instances.db0"].refs[1] is not a string'],
    [
      ["resources", "instances.db0", "onDelete"],
      "keep",
      'resources["instances.db0"].onDelete is none of delete, retain, backup',
    ],
    [["resources", "7"], {}, 'resources["7"].kind is missing'],
    [["resources", "a/b~c"], [], 'resources["a/b~c"] is not an object'],
    [["intents", "instances.next", "marked"], false, 'intents["instances.next"].marked is not true'],
    [["appliedPlans"], [""], "appliedPlans[0] is empty"],
    [["key"], "ab", "key does not match ^[0-9a-f]{64}$"],
    [["serial"], 0, "serial is below 1"],
    [["extra"], 1, "extra is unknown"],
  ])("says where a state is not as it should be: %j", (path, value, words) => {
    const state: unknown = JSON.parse(whole);
    put(state, path, value, false);
    expect(refusal(JSON.stringify(state)).message).toContain(`: ${words}`);
  });
});

describe("stateSchema", () => {
  const validate = new Ajv({ allowUnionTypes: true }).compile(stateSchema);

  it("is published, and what is published is fresh", () => {
    const file = join(import.meta.dirname, "../../schemas/state.schema.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(stateSchema);
  });

  it("is a schema that accepts a state", () => {
    expect(validate(JSON.parse(whole))).toBe(true);
  });

  it("says the same as the reader about any change to a state", () => {
    const places = placesOf(JSON.parse(whole));
    const strange = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom("", 0, 1, -1, 1.5, true, null, [], {}, "delete", [""], [1]),
    );
    fc.assert(
      fc.property(fc.constantFrom(...places), strange, fc.boolean(), (path, value, remove) => {
        const state: unknown = JSON.parse(whole);
        put(state, path, value, remove);
        expect(validators.state(state)).toBe(validate(state));
      }),
      { numRuns: runs(1500) },
    );
  });
});

function placesOf(value: unknown, at: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [at];
  const extra = Array.isArray(value) ? String(value.length) : "extra";
  const inner = Object.entries(value).flatMap(([key, member]) => placesOf(member, [...at, key]));
  return at.length === 0 ? [...inner, [extra]] : [at, ...inner, [...at, extra]];
}

function put(root: unknown, path: readonly string[], value: unknown, remove: boolean): void {
  const last = path.at(-1) ?? "";
  let parent = root;
  for (const key of path.slice(0, -1)) parent = isHolder(parent) ? Reflect.get(parent, key) : undefined;
  if (!isHolder(parent)) throw new Error(`nothing at ${path.join(".")}`);
  if (remove && !Array.isArray(parent)) Reflect.deleteProperty(parent, last);
  else Reflect.set(parent, last, value);
}

function isHolder(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
