/** @module Copies and compares without a pause, to measure how long a real one will take, and empties the target again. */
import type { Rehearsed } from "../../model/migration.ts";
import { compareData } from "./compare-data.ts";
import { type CopyOptions, copy, emptyTarget } from "./copy.ts";
import { makeDurable } from "./durable.ts";
import type { Side } from "./nodes.ts";
import { setCopyKey } from "./own-copy.ts";

/** Its measurements; the look at everything counts as copying, and what makes the copy durable as comparing. The target is emptied afterwards, or else by the next copy. Rejects as `copy`. */
export async function rehearse(
  source: Side,
  target: Side,
  options: CopyOptions,
  signal: AbortSignal,
): Promise<Omit<Rehearsed, "next" | "at">> {
  const watch = await watchStall(source, signal);
  try {
    const begun = performance.now();
    const copied = await copy(source, target, options, signal);
    const end = performance.now();
    await makeDurable(target, setCopyKey);
    // Differences of a source that is written to meanwhile prove nothing.
    await compareData(source, target, options, signal);
    return {
      bytes: copied.bytes,
      largest: copied.largest,
      copy: options.inventory.took + Math.round(end - begun),
      verify: Math.round(performance.now() - end),
      stall: Math.round(watch.longest()),
    };
  } finally {
    watch.end();
    if (!signal.aborted) await emptyTarget(target).catch(() => undefined);
  }
}

/** Pings the source all the time over a connection of its own. */
async function watchStall(
  { primary }: Side,
  signal: AbortSignal,
): Promise<{ longest(): number; end(): void }> {
  const link = await primary.open(signal);
  let longest = 0;
  let asked = performance.now();
  const sinceAsked = (): number => performance.now() - asked;
  const ping = async (): Promise<void> => {
    while (link.isOpen) {
      asked = performance.now();
      await link.one(["PING"]);
      longest = Math.max(longest, sinceAsked());
      asked = Number.POSITIVE_INFINITY;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  ping().catch(() => undefined);
  // A PING that has no answer yet counts as well.
  return { longest: () => Math.max(longest, sinceAsked()), end: link.close };
}
