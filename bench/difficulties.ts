import type { PlatformOptions } from "../src/platform/options.ts";

/** A request as the platform's log has it. */
export interface LoggedRequest {
  readonly operation: string;
  /** 0 where the connection was cut. */
  readonly status: number;
  /** When it arrived, as ISO 8601. */
  readonly time: string;
  /** From its arrival to its answer. */
  readonly ms: number;
}

/** A service that is hard to work with, and how long forty creates may take there, in ms. */
export interface Difficulty {
  readonly name: string;
  readonly faults: NonNullable<PlatformOptions["faults"]>;
  readonly options: Partial<PlatformOptions>;
  /** What the profile declares, as YAML. */
  readonly limits?: string;
  /** `free` is what they take without it; `requests` are those of the run. */
  readonly allows: (free: number, requests: readonly LoggedRequest[]) => number;
}

/** Ms, of the default profile: how long a create that was answered with 503, or not at all, is looked for. */
const settle = 5000;
const listLag = 30_000;

/**
 * The time that was spent on looking for creates that were refused: nobody knows that they made nothing before lists would
 * show it. Those that are refused while others are looked for are looked for together.
 */
export function lookedForRefused(requests: readonly LoggedRequest[]): number {
  const refused = requests.filter(({ operation, status }) => operation === "create" && status === 429);
  let until = 0;
  let looks = 0;
  for (const at of refused.map(({ time }) => Date.parse(time)).toSorted((one, other) => one - other)) {
    if (at < until) continue;
    until = at + listLag;
    looks += 1;
  }
  return looks * listLag;
}

const asFree = (free: number): number => free;
const perSecond =
  (rate: number) =>
  (free: number, requests: readonly LoggedRequest[]): number =>
    Math.max(free, (requests.filter(({ status }) => status !== 429).length / rate) * 1000);
/** One create of a class at a time is under way, so that each one that is lost holds up the others. */
const lost =
  (each: number) =>
  (free: number, requests: readonly LoggedRequest[]): number =>
    free + each * requests.filter(({ operation, status }) => operation === "create" && status !== 202).length;

/** A create that is answered late holds up the others as well; and once, the last read of all. */
const slow =
  (each: number) =>
  (free: number, requests: readonly LoggedRequest[]): number =>
    free + each * (1 + requests.filter(({ operation, ms }) => operation === "create" && ms >= each).length);

export const difficulties: readonly Difficulty[] = [
  {
    name: "4 at a time",
    faults: [{ concurrent: 4, fault: { status: 429 } }],
    options: {},
    allows: asFree,
  },
  {
    name: "4 at a time, each refusal a pause of a second",
    faults: [{ concurrent: 4, fault: { status: 429, retryAfter: 1 } }],
    options: {},
    allows: asFree,
  },
  {
    name: "16 at a time",
    faults: [{ concurrent: 16, fault: { status: 429 } }],
    options: {},
    allows: asFree,
  },
  {
    name: "100 a second",
    faults: [{ perSecond: 100, fault: { status: 429 } }],
    options: {},
    allows: perSecond(100),
  },
  {
    name: "30 a second",
    faults: [{ perSecond: 30, fault: { status: 429 } }],
    options: {},
    allows: perSecond(30),
  },
  {
    name: "30 a second, each refusal a pause of a second",
    faults: [{ perSecond: 30, fault: { status: 429, retryAfter: 1 } }],
    options: {},
    allows: perSecond(30),
  },
  {
    name: "4 at a time, declared",
    faults: [{ concurrent: 4, fault: { status: 429, retryAfter: 1 } }],
    options: {},
    limits: "{ inFlight: 4 }",
    allows: asFree,
  },
  {
    name: "30 a second, declared",
    faults: [{ perSecond: 30, fault: { status: 429, retryAfter: 1 } }],
    options: {},
    limits: "{ perSecond: 30 }",
    allows: perSecond(30),
  },
  { name: "sessions of 1.5 s", faults: [], options: { sessionLifetime: 1.5 }, allows: asFree },
  {
    name: "the old status for 2 s",
    faults: [],
    options: { staleStatus: 2000 },
    allows: (free) => free + 2000,
  },
  {
    name: "8 % of requests answered with 503",
    faults: [{ probability: 0.08, fault: { status: 503 } }],
    options: {},
    allows: lost(settle),
  },
  {
    name: "8 % of requests answered with 503 once the work is done",
    faults: [{ probability: 0.08, fault: { status: 503, work: true } }],
    options: {},
    allows: asFree,
  },
  {
    name: "5 % of requests answered after 4 s",
    faults: [{ probability: 0.05, fault: { latency: 4000 } }],
    options: {},
    allows: slow(4000),
  },
  {
    name: "5 % of reads cut off after 4 s",
    faults: [{ method: "GET", probability: 0.05, fault: { hang: 4000 } }],
    options: {},
    allows: (free) => free + 4000,
  },
  {
    name: "5 % of requests cut off after 4 s",
    faults: [{ probability: 0.05, fault: { hang: 4000 } }],
    options: {},
    allows: (free, requests) => lost(4000 + listLag)(free, requests) + 4000,
  },
];
