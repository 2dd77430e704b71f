/** @module Names several addresses by what they have in common. */
import type { AddressView } from "./block-view.ts";

/** The common part of addresses: `caches.eu[…]`, `caches.…`, or the first of them and that there are more. */
export function commonName(addresses: readonly AddressView[]): string {
  const names = addresses.map(({ address }) => address);
  for (const [cut, rest] of [
    ["[", "[…]"],
    [".", ".…"],
  ] as const) {
    const starts = new Set(
      names.map((name) => (name.includes(cut) ? name.slice(0, name.indexOf(cut)) : name)),
    );
    if (starts.size === 1) return `${[...starts].join("")}${rest}`;
  }
  return `${names[0] ?? ""} …`;
}
