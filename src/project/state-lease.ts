/** @module Reads the lease of a state's locks from the environment. */
import { GraphformError } from "../model/errors.ts";
import { formatDuration, parseDuration } from "../model/quantity.ts";
import { shownAddress } from "../model/userinfo.ts";
import type { Settings } from "./settings.ts";

/** A shorter lease runs out between two renewals; a longer one keeps a state of a dead run locked for days. In ms. */
const [shortest, longest] = [1000, 24 * 3_600_000];

/** The lease of GRAPHFORM_STATE_LEASE in ms; undefined where it is not set. Throws `state-lease` for any other text. */
export function stateLease(settings: Settings): number | undefined {
  const text = settings.get("stateLease");
  if (text === undefined) return undefined;
  const lease = parseDuration(text);
  if (lease !== undefined && lease >= shortest && lease <= longest) return lease;
  throw new GraphformError(
    "state-lease",
    `GRAPHFORM_STATE_LEASE is ${JSON.stringify(shownAddress(text).slice(0, 40))}`,
    {
      hint: `write a duration from ${formatDuration(shortest)} to ${formatDuration(longest)}, like 60s`,
    },
  );
}
