/**
 * When requests to one host may start: not during a pause that it asked for, and no faster than it takes them, once it
 * was seen to count requests per time. Pure data; times are ms since 1970.
 */
export interface HostPace {
  /** Nothing starts before. */
  readonly quietUntil: number;
  /** When the latest wave of refusals began, and how many there were since a request was taken. */
  readonly waveAt: number;
  readonly waves: number;
  /** Requests per second; Infinity while the host was not seen to count them. */
  readonly rate: number;
  /** The fastest that was not refused the last time, when more is tried again, and how long to wait after that. */
  readonly ceiling: number;
  readonly probeAt: number;
  readonly patience: number;
  /** With a rate: when the next one may start. */
  readonly nextAt: number;
  /** Requests taken in the second that began at `since`, and in the one before it. */
  readonly since: number;
  readonly taken: number;
  readonly takenBefore: number;
  /** Requests taken from one wave to the next, since that wave, and since the first of them started. */
  readonly between: { readonly taken: number; readonly waveAt: number; readonly firstAt: number };
  /** When the last request started, and how long after the one before it, in ms. */
  readonly startedAt: number;
  readonly gap: number;
}

/** Pauses after refusals, in ms; the host's own is kept where it names one. */
const pauses = { least: 10, first: 100, longest: 2000 };
const patience = { first: 2000, longest: 2 * 60_000 };
const slowest = 0.2;

/** A rate is measured by at least so many requests in a second; before that, pauses have to do. So many are no burst. */
const enough = 3;
const plenty = 20;

/** A rate at which fewer were taken than this is far too fast, where each refusal costs so many ms. */
const few = 10;
const dear = 500;

/** Nothing is known yet. */
export const newHostPace: HostPace = {
  quietUntil: 0,
  waveAt: Number.NEGATIVE_INFINITY,
  waves: 0,
  rate: Number.POSITIVE_INFINITY,
  ceiling: Number.POSITIVE_INFINITY,
  probeAt: Number.POSITIVE_INFINITY,
  patience: patience.first,
  nextAt: 0,
  since: 0,
  taken: 0,
  takenBefore: 0,
  between: { taken: 0, waveAt: Number.NEGATIVE_INFINITY, firstAt: Number.NEGATIVE_INFINITY },
  startedAt: Number.NEGATIVE_INFINITY,
  gap: Number.POSITIVE_INFINITY,
};

/** When the next request may start. */
export function startOf(host: HostPace): number {
  return Math.max(host.quietUntil, host.nextAt);
}

/** A request starts; where the host counts them, the next one waits its turn. */
export function started(host: HostPace, now: number): HostPace {
  const isFirst = host.between.firstAt <= host.waveAt;
  const waveAt = host.waveAt === Number.NEGATIVE_INFINITY ? now : host.waveAt;
  const between = isFirst ? { taken: 0, waveAt, firstAt: now } : host.between;
  const next = { ...host, startedAt: now, gap: now - host.startedAt, between };
  if (host.rate === Number.POSITIVE_INFINITY) return next;
  return { ...next, nextAt: Math.max(now, host.nextAt) + 1000 / host.rate };
}

/** The host took a request: a little faster, up to what it refused before; more only when it is time to try. */
export function taken(host: HostPace, sentAt: number, now: number): HostPace {
  const counted = rolled(host, now);
  const between = { ...host.between, taken: host.between.taken + 1 };
  const next = { ...counted, taken: counted.taken + 1, between };
  if (sentAt <= host.waveAt) return next;
  if (host.rate === Number.POSITIVE_INFINITY) return { ...next, waves: 0 };
  const top = now < host.probeAt ? host.ceiling : Number.POSITIVE_INFINITY;
  const growth = host.ceiling === Number.POSITIVE_INFINITY ? 1.08 : 1.01;
  return { ...next, waves: 0, rate: Math.max(host.rate, Math.min(top, host.rate * growth)) };
}

/** One request that a host refused. */
export interface Refusal {
  readonly sentAt: number;
  /** Nothing else was in flight, or it was refused as well; or at most half as many were as were taken before. */
  readonly alone: boolean;
  readonly amongFew: boolean;
  /** The pace in requests a second, where it was that and not their number (see `tooFast` in width). */
  readonly tooFast?: number;
  /** What the host says, in ms. */
  readonly retryAfter?: number;
}

/**
 * The host refused a request: everyone pauses, as long as it says or longer with each wave. One that was refused though
 * it was alone, or though no more were in flight than it had taken before, shows that the host counts requests per time:
 * from then on they are spread.
 */
export function refused(host: HostPace, refusal: Refusal, now: number): HostPace {
  const isNewWave = refusal.sentAt > host.waveAt;
  const waves = isNewWave ? host.waves + 1 : host.waves;
  const own = Math.min(pauses.longest, pauses.first * 2 ** Math.max(0, waves - 1));
  const quietUntil = Math.max(host.quietUntil, now + Math.max(pauses.least, refusal.retryAfter ?? own));
  const quiet = { ...rolled(host, now), waves, quietUntil };
  if (!isNewWave) return refusal.alone && !countsRequests(host) ? measured(quiet, refusal, now) : quiet;
  const learned = countsRequests(host) ? slower(quiet, refusal, now) : measured(quiet, refusal, now);
  return { ...learned, waveAt: now };
}

/** The first rate, where there is something to learn it from. */
function measured(host: HostPace, refusal: Refusal, now: number): HostPace {
  const { alone, amongFew, tooFast, retryAfter = 0 } = refusal;
  const taken = Math.max(host.taken, host.takenBefore);
  const isDear = retryAfter >= dear;
  // A second's worth that ended in a long pause: it would end in the next one if as many were tried soon.
  if ((alone || amongFew) && taken >= plenty && isDear)
    return at(0.95 * taken, waitAfter(retryAfter), host, now);
  // A pace that was kept for a while before it was refused is a little too fast.
  if (!alone && tooFast !== undefined && taken > tooFast / 2)
    return at(0.9 * tooFast, waitAfter(retryAfter), host, now);
  if (!alone) return host;
  if (taken >= enough && isDear) {
    const pace = perSecond(host.between.taken, now - host.between.firstAt, pauses.least);
    return at(sustained(host, pace, now), waitAfter(retryAfter), host, now);
  }
  if (taken >= enough) return { ...host, rate: taken };
  // Too few were taken to measure a rate, since the host's pauses are long: half as fast as the last two is.
  return host.gap > pauses.least / 10 && host.gap < 500 ? { ...host, rate: 500 / host.gap } : host;
}

/** With this rate, and no more before `wait` ms have passed. */
function at(rate: number, wait: number, host: HostPace, now: number): HostPace {
  const least = Math.max(slowest, rate);
  return { ...host, rate: least, ceiling: least, probeAt: now + wait, patience: wait };
}

/**
 * Between what the host surely takes, which is what it took since the latest wave, pauses included, and a rate that it
 * refused: their geometric mean, for the first may be too low by as many times as the second is too high.
 */
function sustained({ between }: HostPace, tooMuch: number, now: number): number {
  const sure = perSecond(between.taken, now - between.waveAt, 1000);
  return sure < tooMuch ? Math.sqrt(sure * tooMuch) : tooMuch;
}

/** Where none was taken nothing is known, and one is what will be. */
function perSecond(taken: number, ms: number, least: number): number {
  return (1000 * Math.max(1, taken)) / Math.max(least, ms);
}

/** A tenth slower; more where a refusal is dear. The dearer, the longer until the next is risked. */
function slower(host: HostPace, { retryAfter = 0 }: Refusal, now: number): HostPace {
  const isProbe = host.rate > host.ceiling;
  const least = waitAfter(retryAfter);
  const wait = Math.min(patience.longest, isProbe ? Math.max(least, host.patience * 2) : least);
  return at(lower(host, retryAfter, now), wait, host, now);
}

function lower(host: HostPace, retryAfter: number, now: number): number {
  const refused = Math.min(host.rate, host.ceiling);
  if (retryAfter < dear) return 0.9 * refused;
  return host.between.taken < few ? 0.7 * refused : sustained(host, 0.9 * refused, now);
}

function waitAfter(retryAfter: number): number {
  return Math.max(patience.first, retryAfter * 10);
}

/** True where the host is known to count requests per time. */
export function countsRequests(host: HostPace): boolean {
  return host.rate < Number.POSITIVE_INFINITY;
}

function rolled(host: HostPace, now: number): HostPace {
  const age = now - host.since;
  if (age < 1000) return host;
  return { ...host, since: now, taken: 0, takenBefore: age < 2000 ? host.taken : 0 };
}
