import { describe, expect, it } from "vitest";
import { readReplies } from "../../src/database/replies.ts";

const read = (text: string, count = 1): ReturnType<typeof readReplies> =>
  readReplies(Buffer.from(text), count);

describe("replies", () => {
  it.each<[text: string, reply: unknown]>([
    ["+OK\r\n", "OK"],
    [":-5\r\n", -5],
    ["$5\r\nhe\r\nx\r\n", "he\r\nx"],
    ["$-1\r\n", null],
    ["*-1\r\n", null],
    ["*0\r\n", []],
    ["*2\r\n$1\r\na\r\n*1\r\n:1\r\n", ["a", [1]]],
    ["-ERR no\r\n", new Error("ERR no")],
  ])("are read: %j", (text, reply) => {
    expect(read(text)).toEqual([reply]);
  });

  it("are waited for until all have come, byte by byte", () => {
    const text = "+OK\r\n*2\r\n$3\r\nabc\r\n:1\r\n-NOPERM no\r\n";
    for (let length = 0; length < text.length; length += 1)
      expect(read(text.slice(0, length), 3)).toBeUndefined();
    expect(read(text, 3)).toHaveLength(3);
  });

  it.each([
    ["HTTP/1.1 400 Bad Request\r\n"],
    ["$999999999\r\n"],
    ["$1e3\r\n"],
    ["*-2\r\n"],
    ["*1\r\n".repeat(20)],
    ["$5".padEnd(1_000_001, "x")],
  ])("that are none are refused", (text) => {
    expect(() => read(text)).toThrow(/protocol|deeply|long/);
  });
});
