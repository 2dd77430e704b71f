/** @module Copies and compares without a pause, to measure how long a real one will take, and empties the target again. */
import { type CopyOptions, copy, emptyTarget } from "./copy.ts";
import { makeDurable } from "./durable.ts";
import type { Side } from "./nodes.ts";
import { isRefusal, type Refusal } from "./refusals.ts";
import { verify } from "./verify.ts";

/** Measurements of a rehearsal. Times in ms. Plain data. */
export interface Rehearsal {
  readonly bytes: number;
  /** Bytes of the largest dump. */
  readonly largest: number;
  readonly copy: number;
  readonly verify: number;
  readonly durable: number;
  /** Longest time in which the live source answered nothing. */
  readonly stall: number;
}

/** The target is empty afterwards, also after a refusal. Rejects as `copy`. */
export async function rehearse(
  source: Side,
  target: Side,
  options: CopyOptions,
  signal: AbortSignal,
): Promise<Rehearsal | Refusal> {
  const watch = await watchStall(source, signal);
  try {
    const copied = await copy(source, target, options, signal);
    if (isRefusal(copied)) return copied;
    const begun = performance.now();
    const durable = await makeDurable(target);
    if (isRefusal(durable)) return durable;
    const { inventory, keepParameters = [] } = options;
    const saved = performance.now();
    // Differences of a source that is written to meanwhile prove nothing.
    const found = await verify(source, target, { inventory, keepParameters }, signal);
    return {
      bytes: copied.bytes,
      largest: copied.largest,
      copy: copied.took,
      verify: found.took,
      durable: Math.round(saved - begun),
      stall: Math.round(watch.longest()),
    };
  } finally {
    watch.end();
    if (!signal.aborted) await emptyTarget(source, target);
  }
}

/** Pings the source all the time over a connection of its own. */
async function watchStall(
  { primary }: Side,
  signal: AbortSignal,
): Promise<{ longest(): number; end(): void }> {
  const link = await primary.open(signal);
  let longest = 0;
  const ping = async (): Promise<void> => {
    while (link.isOpen) {
      const asked = performance.now();
      await link.one(["PING"]);
      longest = Math.max(longest, performance.now() - asked);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  ping().catch(() => undefined);
  return { longest: () => longest, end: link.close };
}
