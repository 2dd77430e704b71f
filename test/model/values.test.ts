import { describe, expect, it } from "vitest";
import type { FieldSchema } from "../../src/model/field-schema.ts";
import type { Json } from "../../src/model/json.ts";
import { sameValue } from "../../src/model/values.ts";

const size: FieldSchema = { type: "string", "x-compare": "size" };
const label: FieldSchema = { type: "string", "x-compare": "memory-label" };
const acl: FieldSchema = { type: "string", "x-compare": "acl" };

const rows: readonly [string, FieldSchema, Json, Json, boolean][] = [
  ["text is text", { type: "string" }, "a", "a", true],
  ["capitals count in text", { type: "string" }, "a", "A", false],
  ["a number shown as text", { type: "integer" }, 25, "25", true],
  ["a number with a point", { type: "number" }, "1.50", 1.5, true],
  ["a text that is no number", { type: "integer" }, 25, "twenty-five", false],
  ["no text is not zero", { type: "integer" }, 0, "", false],
  ["text that looks like a number", { type: "string" }, "25", 25, true],
  ["leading zeros count in text", { type: "string" }, "025", 25, false],
  ["truth shown as text", { type: "boolean" }, true, "true", true],
  ["truth in capitals", { type: "boolean" }, false, "False", true],
  ["truth is no number", { type: "boolean" }, true, 1, false],
  ["null is not absent text", { type: "string" }, "", null, false],
  ["sizes in other units", size, "6GB", "6144MB", true],
  ["with and without the i", size, "6Gi", "6GiB", true],
  ["1024 is not 1000", size, "6GB", "6G", false],
  ["sizes as bytes", size, "1KB", 1024, true],
  ["sizes with a point", size, "1.5GB", "1536MB", true],
  ["what is no size is compared as it is typed", size, "lots", "lots", true],
  ["the label of a memory and its amount", label, "1GB", "1200M", true],
  ["the other label", label, "2GB", "2200M", true],
  ["the labels are not each other", label, "1GB", "2200M", false],
  ["rules with other spaces", acl, "~*  +PING", "~* +PING", true],
  ["rules in another case", acl, "~* +graph.query", "~* +GRAPH.QUERY", true],
  ["key patterns keep their case", acl, "~Abc +PING", "~abc +PING", false],
  ["grants in another order", acl, "+PING +INFO ~*", "~* +INFO +PING", true],
  ["a grant twice", acl, "+PING +PING", "+PING", true],
  ["where something is taken away, the order decides", acl, "+@all -FLUSHALL", "-FLUSHALL +@all", false],
  ["rules as a database lists them", acl, "~* +GRAPH.QUERY", "resetchannels -@all ~* +graph.query", true],
  ["what a new user is", acl, "~* +PING", "on sanitize-payload resetkeys ~* -@all +ping", true],
  ["commands that are taken back", acl, "~* +PING", "~* +PING -@all", false],
  ["keys that are taken back", acl, "+PING ~a", "+PING ~a resetkeys", false],
  ["channels that are taken back", acl, "~* &a", "~* &a resetchannels", false],
  ["a user that was switched off before", acl, "~* off", "~* off on", false],
  ["one rule fewer", acl, "+PING +INFO", "+PING", false],
  ["a truth in a field that takes it as text as well", { enum: [true, "true"] }, true, "true", true],
  ["text that looks like a size and is none", { type: "string" }, "1GB", "1024MB", false],
  ["null is no text", {}, null, "null", false],
  ["maps with keys in another order", {}, { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ["lists in another order", {}, [1, 2], [2, 1], false],
  ["two fingerprints", { "x-secret": true }, { $secret: "1" }, { $secret: "2" }, false],
];

describe("two spellings of one value", () => {
  it.each(rows)("%s", (_, row, left, right, same) => {
    expect(sameValue(left, right, row)).toBe(same);
    expect(sameValue(right, left, row)).toBe(same);
  });
});
