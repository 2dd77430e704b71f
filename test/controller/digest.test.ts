import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { digestOf } from "../../src/controller/digest.ts";

describe("a digest", () => {
  it("is SHA-256 of the parts with their lengths in bytes, the same for texts and bytes", () => {
    const expected = createHash("sha256").update("2:\u00e42:bc").digest();
    expect(digestOf("\u00e4", "bc")).toEqual(expected);
    expect(digestOf(Buffer.from("\u00e4"), Buffer.from("bc"))).toEqual(expected);
  });

  it("differs if the same bytes are parted elsewhere", () => {
    expect(digestOf("ab", "c")).not.toEqual(digestOf("a", "bc"));
    expect(digestOf("abc")).not.toEqual(digestOf("abc", ""));
  });
});
