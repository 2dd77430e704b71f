/**
 * How many requests may be in flight: learned by additive increase, halved by a refusal (AIMD). What was refused is
 * remembered as a ceiling, and tried again ever more seldom. Pure data; times are ms since 1970.
 */
export interface Width {
  /** Requests that may be in flight; the whole part counts. */
  readonly limit: number;
  /** True where it was told and is not learned. */
  readonly told: boolean;
  /** The widest that was not refused the last time more was tried. */
  readonly ceiling: number;
  /** When more than the ceiling is tried again, and how long it is left alone after the next refusal. */
  readonly probeAt: number;
  readonly patience: number;
  /** When the latest wave of refusals began. Requests sent before belong to it. */
  readonly waveAt: number;
  /** Together in flight when the wave began, less those of them that were refused. */
  readonly survivors: number;
}

/** A request that ended: when it was sent, and how many were in flight with it at most, itself included. */
export interface Flight {
  readonly sentAt: number;
  readonly together: number;
}

const first = 8;
const widest = 32;
/** Ms. A service that answers sooner keeps us busy with the first few: more would only be more connections to open. */
const soon = 10;
const patience = { first: 1000, longest: 2 * 60_000 };

/** Nothing is known yet; `parallelism` fixes the limit. */
export function newWidth(parallelism?: number): Width {
  return {
    limit: parallelism ?? first,
    told: parallelism !== undefined,
    ceiling: Number.POSITIVE_INFINITY,
    probeAt: Number.POSITIVE_INFINITY,
    patience: patience.first,
    waveAt: Number.NEGATIVE_INFINITY,
    survivors: 0,
  };
}

/** After a request that was taken: fast up to what is known to be fine, then one more for each round. */
export function widened(width: Width, flight: Flight, now: number): Width {
  if (width.told || flight.sentAt <= width.waveAt) return width;
  if (width.limit >= first && now - flight.sentAt < soon) return width;
  const top = now < width.probeAt ? Math.min(widest, width.ceiling) : widest;
  const step = width.limit < width.ceiling ? 1 : 1 / width.limit;
  return { ...width, limit: Math.max(width.limit, Math.min(top, width.limit + step)) };
}

/**
 * After a refusal that costs everyone `pause` ms: half as many, once for each wave; the wave's survivors are how many the
 * service takes. The dearer a refusal, the longer until the next is risked.
 */
export function narrowed(width: Width, flight: Flight, pause: number, now: number): Width {
  if (width.told) return width;
  if (flight.sentAt <= width.waveAt) {
    const survivors = width.survivors - 1;
    const ceiling = Math.max(1, survivors);
    return { ...width, survivors, ceiling, limit: Math.min(width.limit, ceiling) };
  }
  const survivors = flight.together - 1;
  const isProbe = Math.floor(width.limit) > width.ceiling;
  const least = Math.max(patience.first, pause * 10);
  const wait = Math.min(patience.longest, isProbe ? Math.max(least, width.patience * 2) : least);
  return {
    ...width,
    limit: Math.max(1, Math.floor(width.limit / 2)),
    ceiling: Math.max(1, survivors),
    probeAt: now + wait,
    patience: wait,
    waveAt: now,
    survivors,
  };
}
