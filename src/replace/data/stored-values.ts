/** @module Compares two values as DUMP shows them. */
/** Version and checksum at the end of a dump: those of another server differ. */
const footer = 10;
/** First bytes of sets and hashes whose members lie in the order of a hash table, which differs from process to process. */
const unordered: { readonly [type: number]: 1 | 2 } = { 2: 1, 4: 2 };

/** True if both dumps hold the same value. */
export function isSameValue(a: Buffer, b: Buffer): boolean {
  const [one, other] = [a.subarray(0, -footer), b.subarray(0, -footer)];
  if (one.equals(other)) return true;
  const words = unordered[one[0] ?? -1];
  if (words === undefined || one[0] !== other[0] || one.length !== other.length) return false;
  return sortedMembers(one, words) === sortedMembers(other, words);
}

/** Members of a set, or fields of a hash with their values, in the order of their bytes. */
function sortedMembers(dump: Buffer, words: 1 | 2): string {
  const first = lengthAt(dump, 1);
  const members: string[] = [];
  for (let at = first.next; at < dump.length; ) {
    const begin = at;
    for (let word = 0; word < words; word += 1) at = textEnd(dump, at);
    members.push(dump.toString("latin1", begin, at));
  }
  return members.sort().join("");
}

/** A length in the format of snapshots; `special` names an encoding instead. */
function lengthAt(dump: Buffer, at: number): { value: number; special: boolean; next: number } {
  const first = dump.readUInt8(at);
  const form = first >> 6;
  if (form === 0) return { value: first, special: false, next: at + 1 };
  if (form === 1)
    return { value: ((first & 63) << 8) | dump.readUInt8(at + 1), special: false, next: at + 2 };
  if (form === 3) return { value: first & 63, special: true, next: at + 1 };
  if (first === 0x80) return { value: dump.readUInt32BE(at + 1), special: false, next: at + 5 };
  return { value: Number(dump.readBigUInt64BE(at + 1)), special: false, next: at + 9 };
}

/** The end of a text: plain, a number of 1, 2 or 4 bytes, or compressed. Equal texts are encoded equally. */
function textEnd(dump: Buffer, at: number): number {
  const { value, special, next } = lengthAt(dump, at);
  if (!special) return next + value;
  if (value < 3) return next + 2 ** value;
  const compressed = lengthAt(dump, next);
  return lengthAt(dump, compressed.next).next + compressed.value;
}
