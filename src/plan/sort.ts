/** @module Sorts addresses so that each comes after the addresses that it refers to. */
import type { Address } from "../model/address.ts";

/** Addresses so that each comes after everything it refers to; ties by name. References that lead outside do not count. */
export function dependenciesFirst(
  addresses: readonly Address[],
  refsOf: (address: Address) => readonly Address[],
): readonly Address[] {
  const wanted = new Set(addresses);
  const placed = new Set<Address>();
  const result: Address[] = [];
  for (const start of [...addresses].sort()) {
    const stack: { address: Address; open: Address[] }[] = [{ address: start, open: [] }];
    const entered = new Set<Address>();
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      if (!placed.has(top.address) && !entered.has(top.address)) {
        entered.add(top.address);
        top.open = [...refsOf(top.address)].filter((ref) => wanted.has(ref)).sort();
      }
      const next = top.open.shift();
      if (next !== undefined && !placed.has(next) && !entered.has(next))
        stack.push({ address: next, open: [] });
      else if (next === undefined) {
        stack.pop();
        if (!placed.has(top.address)) result.push(top.address);
        placed.add(top.address);
      }
    }
  }
  return result;
}
