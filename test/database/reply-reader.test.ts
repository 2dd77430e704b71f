import { describe, expect, it } from "vitest";
import { type Reply, replyReader } from "../../src/database/command-socket.ts";

function read(...chunks: readonly string[]): readonly unknown[] {
  const replies: Reply[] = [];
  const reader = replyReader((reply) => replies.push(reply), 1_000_000);
  for (const chunk of chunks) reader(Buffer.from(chunk));
  return replies;
}

describe("replies", () => {
  it.each<[text: string, reply: unknown]>([
    ["+OK\r\n", "OK"],
    [":-5\r\n", -5],
    ["$5\r\nhe\r\nx\r\n", "he\r\nx"],
    ["$-1\r\n", null],
    ["*-1\r\n", null],
    ["*0\r\n", []],
    ["*2\r\n$1\r\na\r\n*1\r\n:1\r\n", ["a", [1]]],
  ])("are read: %j", (text, reply) => {
    expect(read(text)).toEqual([reply]);
  });

  it("are errors where the database refuses, with its words", () => {
    expect(read("-ERR no\r\n")).toEqual([expect.objectContaining({ message: "ERR no" })]);
    expect(read("-ERR no\r\n")[0]).toBeInstanceOf(Error);
  });

  it("are waited for until all have come, byte by byte", () => {
    const text = "+OK\r\n*2\r\n$3\r\nabc\r\n:1\r\n-NOPERM no\r\n";
    expect(read(text.slice(0, -2))).toHaveLength(2);
    expect(read(...text)).toEqual(["OK", ["abc", 1], expect.any(Error)]);
  });

  it.each([["HTTP/1.1 400 Bad Request\r\n"], ["*1\r\n".repeat(200_000)], ["$5".padEnd(1_000_001, "x")]])(
    "that are none are refused, or waited for: %#",
    (text) => {
      try {
        expect(read(text)).toEqual([]);
      } catch (error) {
        expect(String(error)).toMatch(/protocol|long/);
      }
    },
  );
});
