/**
 * How many requests may be in flight: learned by additive increase, halved by a refusal (AIMD). What was refused is
 * remembered as a ceiling, and tried again ever more seldom. From the first refusal on requests start apart, as far as
 * their number and usual time allow (Little's law): a host that counts them per time looks like one that counts those in
 * flight as long as they come in bursts. Pure data; times are ms since 1970.
 */
export interface Width {
  /** Requests that may be in flight; while they are paced a part of one is one. */
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
  /** The latest wave is the first, and came out of a burst. */
  readonly isFirstWave: boolean;
  /** The most in flight, at its start, that a request was taken with. */
  readonly fine: number;
  /** Something was refused, so requests start apart. */
  readonly isPaced: boolean;
  /** How long a request that is taken takes, in ms, smoothed; and when the next may start. */
  readonly usual: number;
  readonly nextAt: number;
}

/** A request that was sent. */
export interface Flight {
  readonly sentAt: number;
  /** In flight when it started, and at most while it was; itself included. */
  readonly position: number;
  readonly together: number;
  /** The limit when it started. */
  readonly limit: number;
}

const first = 8;
const widest = 32;
/** Ms. A service that answers sooner keeps us busy with the first few: more would only be more connections to open. */
const soon = 10;
const patience = { first: 1000, longest: 2 * 60_000 };
/** What is kept between starts, of the time that would spread them evenly. */
const spread = 0.8;

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
    isFirstWave: false,
    fine: 0,
    isPaced: false,
    usual: 0,
    nextAt: 0,
  };
}

/** How many may be in flight. */
export function roomOf({ limit, isPaced }: Width): number {
  return Math.max(1, isPaced ? Math.ceil(limit) : Math.floor(limit));
}

/** A request starts; once they are paced, the next one waits its turn. */
export function sent(width: Width, now: number): Width {
  if (!width.isPaced) return width;
  return { ...width, nextAt: Math.max(now, width.nextAt) + (spread * width.usual) / width.limit };
}

/** After a request that was taken: fast up to what is known to be fine, then a little more for each round. */
export function widened(before: Width, flight: Flight, now: number): Width {
  const took = now - flight.sentAt;
  const usual = before.usual === 0 ? took : before.usual + (took - before.usual) / 8;
  const width = { ...before, usual };
  if (width.told || flight.sentAt <= width.waveAt) return width;
  const fine = Math.max(width.fine, flight.position);
  if (width.limit >= first && took < soon) return { ...width, fine };
  const top = now < width.probeAt ? Math.min(widest, width.ceiling) : widest;
  const step = width.limit < width.ceiling ? 1 : 0.3 / width.limit;
  return { ...width, fine, limit: Math.max(width.limit, Math.min(top, width.limit + step)) };
}

/**
 * The pace, in requests a second, that a refused request shows to be too fast: no more were in flight than were taken
 * before, so it is not their number.
 */
export function tooFast(width: Width, flight: Flight): number | undefined {
  const isOfWave = flight.sentAt <= width.waveAt;
  if (width.told || !width.isPaced || isOfWave || flight.position > width.fine) return undefined;
  return (1000 * flight.limit) / (spread * width.usual);
}

/**
 * After a refusal that costs everyone `pause` ms: half as many, once for each wave; the wave's survivors are how many the
 * service takes. The dearer a refusal, the longer until the next is risked. One survivor of the first burst says little:
 * it may be the pace.
 */
export function narrowed(width: Width, flight: Flight, pause: number, now: number): Width {
  if (width.told) return width;
  if (flight.sentAt <= width.waveAt) {
    const survivors = width.survivors - 1;
    const ceiling = Math.min(width.ceiling, Math.max(1, survivors));
    const limit = Math.min(width.limit, ceiling);
    const isUnclear = width.isFirstWave && survivors <= 1;
    return { ...width, survivors, limit, ceiling: isUnclear ? Number.POSITIVE_INFINITY : ceiling };
  }
  const survivors = flight.together - 1;
  const half = Math.floor(width.limit / 2);
  const isProbe = width.limit > width.ceiling;
  const least = Math.max(patience.first, pause * 10);
  const wait = Math.min(patience.longest, isProbe ? Math.max(least, width.patience * 2) : least);
  return {
    ...width,
    limit: Math.max(1, width.isPaced ? half : Math.min(survivors, half)),
    ceiling: Math.max(1, survivors),
    probeAt: now + wait,
    patience: wait,
    waveAt: now,
    survivors,
    isFirstWave: !width.isPaced,
    fine: Math.min(width.fine, flight.position - 1),
    isPaced: true,
  };
}
