/** @module Chooses the fault of each request by the rules in force. */
import { type Fault, type FaultRule, pathPattern } from "./fault-rule.ts";

/** The properties of a request that rules are matched with. */
export interface FaultSubject {
  readonly method: string;
  readonly path: string;
  readonly operation: string;
}

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

const none: Fault = {};

/** Faults of `--faults` and `/_platform/faults`. `now` gives monotonic milliseconds. */
export function createFaults(initial: readonly FaultRule[], now: () => number): Faults {
  let armed = initial.map(arm);
  let inFlight = 0;
  return {
    match(subject) {
      if (armed.length === 0) return none;
      const load = { now: now(), inFlight };
      const hits = armed.filter((candidate) => matches(candidate, subject, load));
      return hits.length === 0 ? none : Object.assign({}, ...hits.map((candidate) => candidate.rule.fault));
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
  return {
    rule,
    pattern: rule.path === undefined ? undefined : pathPattern(rule.path),
    random: generator(rule.seed ?? 1),
    matched: 0,
    hits: 0,
    second: 0,
    inSecond: 0,
  };
}

interface Load {
  readonly now: number;
  readonly inFlight: number;
}

function matches(armed: Armed, subject: FaultSubject, load: Load): boolean {
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
