import { type Fault, type FaultRule, pathPattern } from "./fault-rule.ts";

/** What a request is known by when faults are chosen. */
export interface FaultSubject {
  readonly method: string;
  readonly path: string;
  readonly operation: string;
}

/** The rules in force. Deterministic: the same rules and the same requests give the same faults. */
export interface Faults {
  /** The merged fault of all rules that strike this request; empty when none does. Counts each match. */
  strike(subject: FaultSubject): Fault;
  /** A request arrives, and is answered: what `concurrent` counts. */
  enter(): void;
  leave(): void;
  rules(): readonly FaultRule[];
  /** Puts other rules in force; counters and generators start anew. */
  replace(rules: readonly FaultRule[]): void;
}

interface Armed {
  readonly rule: FaultRule;
  readonly pattern: RegExp | undefined;
  readonly random: () => number;
  matched: number;
  struck: number;
  second: number;
  inSecond: number;
}

const none: Fault = {};

/** Faults on request (`--faults` and `/_platform/faults`). `now` gives milliseconds that only grow. */
export function createFaults(initial: readonly FaultRule[], now: () => number): Faults {
  let armed = initial.map(arm);
  let inFlight = 0;
  return {
    strike(subject) {
      if (armed.length === 0) return none;
      const moment = { now: now(), inFlight };
      const struck = armed.filter((candidate) => strikes(candidate, subject, moment));
      return struck.length === 0
        ? none
        : Object.assign({}, ...struck.map((candidate) => candidate.rule.fault));
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
    struck: 0,
    second: 0,
    inSecond: 0,
  };
}

interface Moment {
  readonly now: number;
  readonly inFlight: number;
}

function strikes(armed: Armed, subject: FaultSubject, moment: Moment): boolean {
  const { rule } = armed;
  if (rule.method !== undefined && rule.method.toUpperCase() !== subject.method) return false;
  if (rule.operation !== undefined && rule.operation !== subject.operation) return false;
  if (armed.pattern !== undefined && !armed.pattern.test(subject.path)) return false;
  armed.matched += 1;
  if (armed.matched <= (rule.after ?? 0)) return false;
  if (rule.concurrent !== undefined && moment.inFlight <= rule.concurrent) return false;
  if (rule.perSecond !== undefined && !isAboveRate(armed, rule.perSecond, moment.now)) return false;
  if (rule.probability !== undefined && armed.random() >= rule.probability) return false;
  if (armed.struck >= (rule.count ?? Number.POSITIVE_INFINITY)) return false;
  armed.struck += 1;
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

/** Mulberry32: numbers in [0, 1) that depend on the seed alone. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
