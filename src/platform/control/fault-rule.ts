import { isObject, type Json, type JsonObject } from "../../model/json.ts";

/** What goes wrong when a rule matches. Several can stand together. */
export interface Fault {
  /** Waits this long (ms) before the request is handled. */
  readonly latency?: number;
  /** Holds the request in silence for this long (ms), then cuts the connection. */
  readonly hang?: number;
  /** Cuts the connection: before the work (nothing is done), or after it (all is done, nobody hears). */
  readonly reset?: "before" | "after";
  /** Answers this status in the error shape, without doing the work unless `work` is true. */
  readonly status?: number;
  /** The Retry-After header in seconds. */
  readonly retryAfter?: number;
  /** Answers these bytes in place of the right body. */
  readonly body?: string;
  /** Does the work before `status` or `hang` takes effect. */
  readonly work?: boolean;
  /** An accepted operation shows the old status for this long (ms). */
  readonly staleStatus?: number;
  /** A created resource is missing from lists for ever (true) or for this long (ms); on a list: the newest one. */
  readonly missingFromList?: boolean | number;
  /** The accepted operation never finishes; its transient status stays until the resource is deleted. A copy of a snapshot stays pending. */
  readonly stuck?: boolean;
  /** The accepted operation ends in FAILED with this reason. Of a backup and of a copy it is the snapshot that is FAILED. */
  readonly failed?: string;
}

/** When a fault strikes. All conditions that stand must hold; a rule without any always does. */
export interface FaultRule {
  readonly method?: string;
  /** A glob (`*` is any run of characters), or a regular expression when it starts with `^`. */
  readonly path?: string;
  /** The operation's name: `create`, `describe`, `signin` ... */
  readonly operation?: string;
  /** Strikes at most this often. */
  readonly count?: number;
  /** Lets this many matching requests pass first. */
  readonly after?: number;
  /** Strikes with this probability, drawn from a generator seeded with `seed` (default 1). */
  readonly probability?: number;
  readonly seed?: number;
  /** Strikes only what is above this many requests at a time, or in one second. */
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

const ruleKeys: { readonly [key: string]: Check } = {
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

const faultKeys: { readonly [key: string]: Check } = {
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

/** Reads fault rules: a list, or an object with `rules`. Answers the first thing that is wrong as a text. */
export function parseFaultRules(document: Json): readonly FaultRule[] | string {
  const list = isObject(document) ? document["rules"] : document;
  if (!Array.isArray(list)) return "fault rules are a list, or an object with a list named rules";
  const rules: FaultRule[] = [];
  for (const [index, rule] of list.entries()) {
    const problem = problemOf(rule, index);
    if (problem !== undefined) return problem;
    if (isFaultRule(rule)) rules.push(rule);
  }
  return rules;
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
    const check = Object.hasOwn(keys, key) ? keys[key] : undefined;
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

/** The pattern of a rule's `path`. Throws where a regular expression is malformed. */
export function pathPattern(path: string): RegExp {
  if (path.startsWith("^")) return new RegExp(path);
  const escaped = path.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^${escaped}$`);
}

function isFaultRule(rule: Json): rule is Json & FaultRule {
  return problemOf(rule, 0) === undefined;
}
