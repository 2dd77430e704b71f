/** @module Reads fault rules and chooses the fault of each request by them. */
import { isObject, type Json, type JsonObject, own } from "../../model/json.ts";

/** Effects of a rule that matches. They can be combined. */
export interface Fault {
  /** Delay before the request is handled, in ms. */
  readonly latency?: number;
  /** Time without an answer before the connection is cut, in ms. */
  readonly hang?: number;
  /** Cuts the connection before the operation (nothing is done), or after it (it is done, without an answer). */
  readonly reset?: "before" | "after";
  /** Answers this status with the host's error body; the operation is done only if `work` is true. */
  readonly status?: number;
  /** Value of the Retry-After header, in seconds. */
  readonly retryAfter?: number;
  /** Body of the answer, in place of the real one. */
  readonly body?: string;
  /** Does the operation before `status` or `hang` takes effect. */
  readonly work?: boolean;
  /** Time for which an accepted operation shows the previous status, in ms. */
  readonly staleStatus?: number;
  /** A created resource is missing from lists: always (true) or for this time in ms. On a list: its newest entry is missing. */
  readonly missingFromList?: boolean | number;
  /** The accepted operation never ends; its status stays until the resource is deleted. A copied snapshot stays pending. */
  readonly stuck?: boolean;
  /** The accepted operation ends in FAILED with this reason. A backup or copy makes its snapshot FAILED. */
  readonly failed?: string;
}

/** Conditions of a fault. All that are given must match; a rule without conditions always matches. */
export interface FaultRule {
  readonly method?: string;
  /** A glob (`*` is any run of characters), or a regular expression when it starts with `^`. */
  readonly path?: string;
  /** Name of an operation: `create`, `describe`, `signin` ... */
  readonly operation?: string;
  readonly count?: number;
  /** Number of matching requests without a fault at first. */
  readonly after?: number;
  /** Probability of a fault, drawn from a generator seeded with `seed` (default 1). */
  readonly probability?: number;
  readonly seed?: number;
  /** Only requests above this number at a time, or in one second. */
  readonly concurrent?: number;
  readonly perSecond?: number;
  readonly fault: Fault;
}

type Check = (value: Json) => boolean;

const longest = 24 * 3_600_000;
const text: Check = (value) => typeof value === "string";
const bool: Check = (value) => typeof value === "boolean";
const between =
  (low: number, high: number, whole = true): Check =>
  (value) =>
    typeof value === "number" && value >= low && value <= high && (!whole || Number.isInteger(value));

export const ruleKeys: { readonly [key: string]: Check } = {
  method: text,
  path: text,
  operation: text,
  count: between(0, 1e9),
  after: between(0, 1e9),
  probability: between(0, 1, false),
  seed: between(0, 2 ** 32 - 1),
  concurrent: between(0, 1e6),
  perSecond: between(0, 1e6),
  fault: isObject,
};

export const faultKeys: { readonly [key: string]: Check } = {
  latency: between(0, longest, false),
  hang: between(0, longest, false),
  reset: (value) => value === "before" || value === "after",
  status: between(200, 599),
  retryAfter: between(0, 86_400, false),
  body: text,
  work: bool,
  staleStatus: between(0, longest, false),
  missingFromList: (value) => typeof value === "boolean" || between(0, longest, false)(value),
  stuck: bool,
  failed: text,
};

/** Fault rules from a list or an object with `rules`; the first problem as a text if they are not valid. */
export function parseFaultRules(document: Json): readonly FaultRule[] | string {
  const list = isObject(document) ? document["rules"] : document;
  if (!Array.isArray(list)) return "fault rules are a list, or an object with a list named rules";
  const problem = list.map(problemOf).find((found) => found !== undefined);
  return problem ?? list.filter((rule): rule is Json & FaultRule => problemOf(rule, 0) === undefined);
}

function problemOf(rule: Json, index: number): string | undefined {
  if (!isObject(rule)) return `fault rule ${index} is not an object`;
  const wrong = wrongKey(rule, ruleKeys);
  if (wrong !== undefined) return `fault rule ${index}: ${wrong}`;
  if (!isObject(rule["fault"])) return `fault rule ${index} has no fault`;
  const wrongFault = wrongKey(rule["fault"], faultKeys);
  if (wrongFault !== undefined) return `fault rule ${index}: fault.${wrongFault}`;
  const path = rule["path"];
  return typeof path === "string" && !isPattern(path) ? `fault rule ${index}: path is no pattern` : undefined;
}

function wrongKey(value: JsonObject, keys: { readonly [key: string]: Check }): string | undefined {
  for (const [key, entry] of Object.entries(value)) {
    const check = own(keys, key);
    if (check === undefined) return `${key} is not known; known are ${Object.keys(keys).join(", ")}`;
    if (!check(entry)) return `${key} has a wrong type or is out of bounds`;
  }
  return undefined;
}

function isPattern(path: string): boolean {
  try {
    pathPattern(path);
    return true;
  } catch {
    return false;
  }
}

/** Pattern of a rule's `path`. Throws for a malformed regular expression. */
function pathPattern(path: string): RegExp {
  if (path.startsWith("^")) return new RegExp(path);
  const escaped = path.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^${escaped}$`);
}

type FaultSubject = { readonly [part in "method" | "path" | "operation"]: string };

/** The rules in force. The same rules and the same requests give the same faults. */
export interface Faults {
  /** The merged fault of all rules that match the request; empty without a match. Counts each match. */
  match(subject: FaultSubject): Fault;
  /** Counts a request that arrives, for `concurrent`. */
  enter(): void;
  leave(): void;
  rules(): readonly FaultRule[];
  /** Replaces the rules; counters and random generators are reset. */
  replace(rules: readonly FaultRule[]): void;
}

interface Armed {
  readonly rule: FaultRule;
  readonly pattern: RegExp | undefined;
  readonly random: () => number;
  matched: number;
  hits: number;
  second: number;
  inSecond: number;
}

/** Faults of `--faults` and `/_platform/faults`. `now` gives monotonic milliseconds. */
export function createFaults(initial: readonly FaultRule[], now: () => number): Faults {
  let armed = initial.map(arm);
  let inFlight = 0;
  return {
    match(subject) {
      const load = { now: now(), inFlight };
      const hits = armed.filter((candidate) => matches(candidate, subject, load));
      return Object.assign({}, ...hits.map((candidate) => candidate.rule.fault));
    },
    enter() {
      inFlight += 1;
    },
    leave() {
      inFlight -= 1;
    },
    rules: () => armed.map((candidate) => candidate.rule),
    replace(rules) {
      armed = rules.map(arm);
    },
  };
}

function arm(rule: FaultRule): Armed {
  const pattern = rule.path === undefined ? undefined : pathPattern(rule.path);
  const random = generator(rule.seed ?? 1);
  return { rule, pattern, random, matched: 0, hits: 0, second: 0, inSecond: 0 };
}

function matches(
  armed: Armed,
  subject: FaultSubject,
  load: { readonly [part in "now" | "inFlight"]: number },
): boolean {
  const { rule } = armed;
  if (rule.method !== undefined && rule.method.toUpperCase() !== subject.method) return false;
  if (rule.operation !== undefined && rule.operation !== subject.operation) return false;
  if (armed.pattern !== undefined && !armed.pattern.test(subject.path)) return false;
  armed.matched += 1;
  if (armed.matched <= (rule.after ?? 0)) return false;
  if (rule.concurrent !== undefined && load.inFlight <= rule.concurrent) return false;
  if (rule.perSecond !== undefined && !isAboveRate(armed, rule.perSecond, load.now)) return false;
  if (rule.probability !== undefined && armed.random() >= rule.probability) return false;
  if (armed.hits >= (rule.count ?? Number.POSITIVE_INFINITY)) return false;
  armed.hits += 1;
  return true;
}

function isAboveRate(armed: Armed, perSecond: number, now: number): boolean {
  const second = Math.floor(now / 1000);
  if (second !== armed.second) {
    armed.second = second;
    armed.inSecond = 0;
  }
  armed.inSecond += 1;
  return armed.inSecond > perSecond;
}

/** The generator mulberry32: numbers in [0, 1) that depend on the seed alone. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
