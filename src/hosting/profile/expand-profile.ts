/** @module Expands a valid profile file: short forms are written out, durations become ms. */
import { isObject, type Json, type JsonObject, mapped, own } from "../../model/json.ts";
import { parseDuration } from "../../model/quantity.ts";
import type { Endpoint, Profile, SessionProfile, Timing, TopologyRules } from "../../model/service.ts";

interface EndpointText {
  /** `METHOD path`; `<name>` at its start stands for a prefix. */
  readonly request: string;
  readonly host?: "platform" | "users";
  readonly query?: { readonly [name: string]: string };
  readonly body?: { readonly [name: string]: string };
  readonly answer?: { readonly [name: string]: Paths };
}

type Written = "session" | "signIn" | "refresh" | "operations" | "timing" | "topology" | Defaulted;
type Defaulted = "fields" | "networkTypes" | "backupBy" | "lacks";

/** A value whose durations are texts. */
type Texts<T> = T extends number ? string : T extends object ? { readonly [K in keyof T]: Texts<T[K]> } : T;

type Paths = string | readonly string[];
type TopologyPath = "host" | "port" | "networkingType";

/** A profile file that its schema accepts, merged with the files that it extends; durations are texts. */
export interface ProfileText extends Omit<Profile, Written>, Partial<Pick<Profile, Defaulted>> {
  readonly extends?: string;
  readonly prefixes?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly omitsEmptyLists?: boolean;
  readonly topology?: Omit<TopologyRules, TopologyPath> & { readonly [path in TopologyPath]: Paths };
  readonly session: Texts<SessionProfile>;
  readonly signIn: EndpointText;
  readonly refresh?: EndpointText;
  readonly operations: { readonly [name: string]: EndpointText };
  readonly timing: Texts<Omit<Timing, "clock">> & { readonly clock?: string };
}

/** A mistake in a profile that its schema cannot find, and the path of its key. */
export interface ProfileFault {
  readonly path: readonly string[];
  readonly message: string;
}

/** Path parameters that calls supply. */
const callParameters = [
  ...["serviceModelKey", "productTierKey", "resourceKey", "nodeResourceKey"],
  ...["id", "instanceId", "username", "serviceId", "resourceId"],
];

/** Writes every endpoint as an object, so that profiles can be merged. */
export function unfold(profile: JsonObject): JsonObject {
  const whole = (value: Json): Json => (typeof value === "string" ? { request: value } : value);
  const unfolded = Object.entries(profile).map(([key, value]): [string, Json] => {
    if (key === "signIn" || key === "refresh") return [key, whole(value)];
    return [key, key === "operations" && isObject(value) ? mapped(value, whole) : value];
  });
  return Object.fromEntries(unfolded);
}

export function expandProfile(text: ProfileText): {
  readonly profile: Profile;
  readonly faults: readonly ProfileFault[];
} {
  const faults: ProfileFault[] = [];
  const endpoint = (path: readonly string[], value: EndpointText): Endpoint =>
    expand(path, value, text, faults);
  const assertPattern = (path: readonly string[], pattern: string): void => {
    if (!isPattern(pattern)) faults.push({ path, message: `${path.join(".")} must be a regular expression` });
  };
  assertPattern(["session", "missingToken"], text.session.missingToken);
  const {
    extends: _below,
    prefixes: _prefixes,
    query: _query,
    omitsEmptyLists: _omitsEmptyLists,
    signIn,
    refresh,
    operations,
    session,
    timing,
    topology,
    ...rest
  } = text;
  for (const [path, pattern] of Object.entries(topology?.never ?? {}))
    assertPattern(["topology", "never", path], pattern);
  const profile: Profile = {
    fields: {},
    networkTypes: [],
    backupBy: ["instance.backup"],
    lacks: [],
    ...rest,
    session: {
      ...session,
      tokenLifetime: ms(session.tokenLifetime),
      refreshLifetime: ms(session.refreshLifetime),
    },
    signIn: endpoint(["signIn"], signIn),
    ...(refresh === undefined ? {} : { refresh: endpoint(["refresh"], refresh) }),
    ...(topology === undefined ? {} : { topology: topologyOf(topology) }),
    operations: mapped(operations, (value, name) => endpoint(["operations", name], value)),
    statuses: Object.fromEntries(
      Object.entries(text.statuses).map(([status, phase]) => [status.toUpperCase(), phase]),
    ),
    timing: {
      settle: ms(timing.settle),
      listLag: ms(timing.listLag),
      clock: ms(timing.clock ?? "1s"),
      endpoint: ms(timing.endpoint),
      poll: { first: ms(timing.poll.first), longest: ms(timing.poll.longest) },
      expect: mapped(timing.expect, ms),
      timeout: mapped(timing.timeout, ms),
    },
  };
  return { profile, faults };
}

function expand(
  at: readonly string[],
  value: EndpointText,
  text: ProfileText,
  faults: ProfileFault[],
): Endpoint {
  const [method = "GET", template = ""] = value.request.split(" ");
  const path = template.replace(/^<([A-Za-z]+)>/, (_, name: string) => {
    const prefix = own(text.prefixes ?? {}, name);
    if (prefix === undefined)
      faults.push({ path: [...at, "request"], message: `there is no prefix "${name}"` });
    return prefix ?? "";
  });
  for (const [, name = ""] of path.matchAll(/\{([^{}]*)\}/g)) {
    if (callParameters.includes(name) || Object.hasOwn(text.keys, name)) continue;
    faults.push({
      path: [...at, "request"],
      message: `{${name}} is neither a key of the profile nor one of ${callParameters.join(", ")}`,
    });
  }
  return {
    method: methodOf(method),
    host: value.host ?? "platform",
    path,
    query: value.query ?? text.query ?? {},
    body: value.body ?? {},
    answer: mapped(value.answer ?? {}, listed),
    ...(text.omitsEmptyLists === true && isList(value) ? { omitsEmptyList: true } : {}),
  };
}

function isList({ answer = {} }: EndpointText): boolean {
  return answer["ids"] !== undefined || answer["items"] !== undefined;
}

function topologyOf(rules: NonNullable<ProfileText["topology"]>): TopologyRules {
  const { host, port, networkingType } = rules;
  return { ...rules, host: listed(host), port: listed(port), networkingType: listed(networkingType) };
}

function listed(paths: Paths): readonly string[] {
  return typeof paths === "string" ? [paths] : paths;
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "i").flags === "i";
  } catch {
    return false;
  }
}

function methodOf(text: string): Endpoint["method"] {
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
  return methods.find((method) => method === text) ?? "GET";
}

function ms(text: string): number {
  return parseDuration(text) ?? 0;
}
