/** @module Looks up the names of databases: a thousand that do not resolve must not block each other. */
import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { shareLookUps } from "./look-ups.ts";
import { lookUpElsewhere } from "./name-process.ts";

/** Look-ups that run at once: those of names that do not resolve may take 10 s and more each. */
const atOnce = 8;

/** Time that an answer is kept, in ms: the next attempt sees a look-up that took longer than the previous one. */
const hold = 5000;

const shared = shareLookUps(lookUpElsewhere(atOnce, 10_000), () => performance.now(), atOnce, hold);

/** Looks up the name of a connection with those of all others; after the signal nobody waits for it. */
export function lookupWithin(signal: AbortSignal): LookupFunction {
  return (name, options, callback) => {
    // `localhost` needs no server and no child process.
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
