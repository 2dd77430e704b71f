/** @module Reads replies of the database's protocol, RESP 2. */

/** A reply; a refusal is an Error with the database's words. */
export type Reply = string | number | null | Error | readonly Reply[];

/** The most bytes of one answer: a probe's are far fewer. */
const most = 1_000_000;
/** The deepest list in a list. */
const deepest = 8;

interface Read {
  readonly reply: Reply;
  readonly next: number;
}

/** Reads that many replies; undefined while there are fewer. Throws for what is no reply. */
export function readReplies(bytes: Buffer, count: number): readonly Reply[] | undefined {
  if (bytes.length > most) throw new Error("its answer is too long");
  return readList(bytes, 0, count, 0)?.replies;
}

function readList(
  bytes: Buffer,
  at: number,
  count: number,
  depth: number,
): { readonly replies: readonly Reply[]; readonly next: number } | undefined {
  const replies: Reply[] = [];
  let next = at;
  while (replies.length < count) {
    const read = readOne(bytes, next, depth);
    if (read === undefined) return undefined;
    replies.push(read.reply);
    next = read.next;
  }
  return { replies, next };
}

function readOne(bytes: Buffer, at: number, depth: number): Read | undefined {
  const end = bytes.indexOf("\r\n", at);
  if (end === -1) return undefined;
  const line = bytes.toString("utf8", at + 1, end);
  const next = end + 2;
  switch (String.fromCharCode(bytes[at] ?? 0)) {
    case "+":
      return { reply: line, next };
    case "-":
      return { reply: new Error(line), next };
    case ":":
      return { reply: Number(line), next };
    case "$":
      return readText(bytes, next, lengthOf(line));
    case "*": {
      const count = lengthOf(line);
      if (count === -1) return { reply: null, next };
      if (depth >= deepest) throw new Error("its answer is nested too deeply");
      const list = readList(bytes, next, count, depth + 1);
      return list === undefined ? undefined : { reply: list.replies, next: list.next };
    }
    default:
      throw new Error("it does not speak the protocol of a database");
  }
}

function readText(bytes: Buffer, at: number, length: number): Read | undefined {
  if (length === -1) return { reply: null, next: at };
  if (bytes.length < at + length + 2) return undefined;
  return { reply: bytes.toString("utf8", at, at + length), next: at + length + 2 };
}

function lengthOf(line: string): number {
  const length = /^-?\d{1,7}$/.test(line) ? Number(line) : Number.NaN;
  if (!(length >= -1 && length <= most)) throw new Error("it does not speak the protocol of a database");
  return length;
}
