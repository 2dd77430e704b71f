/** @module The look-ups of this process's databases: names of hosted ones may not resolve from here, a thousand at once. */
import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { shareLookUps } from "./look-ups.ts";
import { lookUpElsewhere } from "./name-process.ts";

/** Look-ups that run at once: those of names that do not resolve may take 10 s and more each. */
const atOnce = 8;

/** How long an answer holds, in ms: until the next try has seen the end of a look-up that took longer than a try. */
const hold = 5000;

const shared = shareLookUps(lookUpElsewhere(atOnce, 10_000), () => performance.now(), atOnce, hold);

/** Looks up the name of a connection with those of all others; after the signal nobody waits for it. */
export function lookupWithin(signal: AbortSignal): LookupFunction {
  return (name, options, callback) => {
    // This machine's own name needs no server, and no process.
    if (name === "localhost") return lookup(name, options, callback);
    shared.addressesOf(name, signal).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, first?.address ?? "", first?.family ?? 4);
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}
