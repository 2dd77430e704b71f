/** @module Resolves the address patterns of the command line. */
import type { Address } from "../model/address.ts";
import type { Removal } from "../model/manifest.ts";
import type { PlanOptions } from "../model/plan.ts";

/** An option whose pattern matches nothing. */
export interface UnknownAddress {
  /** As it is written on the command line: `--target`. */
  readonly option: string;
  readonly pattern: string;
  /** The addresses that it could have named. */
  readonly candidates: readonly Address[];
}

/**
 * Resolves the patterns of options. A pattern is an address, which means that address alone, a name without its key for all members of a
 * forEach, or a text with `*` for any characters. Only what is declared can be replaced or moved.
 */
export function resolveAddressOptions(
  options: PlanOptions,
  known: KnownAddresses,
): { readonly options: PlanOptions; readonly unknown: readonly UnknownAddress[] } {
  const all = [...new Set([...known.declared, ...known.bound])];
  const unknown: UnknownAddress[] = [];
  const resolve = (
    option: string,
    patterns: readonly string[],
    candidates: readonly Address[],
  ): Address[] => {
    const found = patterns.map((pattern) => ({ pattern, addresses: addressesOf(pattern, candidates) }));
    for (const { pattern } of found.filter(({ addresses }) => addresses.length === 0)) {
      const named = new Set(candidates.flatMap((each) => [each, each.split("[")[0] ?? each]));
      unknown.push({ option, pattern, candidates: [...named] });
    }
    const all = [...new Set(found.flatMap(({ addresses }) => addresses))];
    // Keeps a pattern without a match: an empty list would select every resource.
    return all.length === 0 ? [...patterns] : all;
  };
  return {
    options: {
      ...options,
      targets: resolve("--target", options.targets, all),
      exclude: resolve("--exclude", options.exclude, all),
      replace: resolve("--replace", options.replace, known.declared),
      allowDestroy: resolve("--allow-destroy", options.allowDestroy, all),
      ...(options.cutover && { cutover: resolve("--cutover", options.cutover, known.declared) }),
    },
    unknown,
  };
}

export interface KnownAddresses {
  readonly declared: readonly Address[];
  readonly bound: readonly Address[];
}

/** The addresses that an entry of `removed` means: a name without its key stands for all that were members of its forEach. */
export function addressesOfRemoval(
  { address }: Pick<Removal, "address">,
  { declared, bound }: KnownAddresses,
): readonly Address[] {
  const members = bound.filter((other) => other.startsWith(`${address}[`) && !declared.includes(other));
  return bound.includes(address) || members.length === 0 ? [address] : members;
}

function addressesOf(pattern: string, candidates: readonly Address[]): readonly Address[] {
  if (candidates.includes(pattern)) return [pattern];
  const parts = pattern.split("*");
  return candidates.filter((address) => address.startsWith(`${pattern}[`) || hasParts(address, parts));
}

/** True if the parts stand in the text in their order, the first at its start and the last at its end. */
function hasParts(text: string, parts: readonly string[]): boolean {
  const [first = "", ...others] = parts;
  const last = others.pop();
  if (last === undefined || !text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
