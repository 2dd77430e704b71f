/** @module Names the causes for which a running object gave no answer, each with its way out. */
import type { Json, JsonObject } from "./json.ts";
import type { ProbeAnswer } from "./probe-reading.ts";

/** A cause for people, and what can be done about it. Neither has a value of the manifest or an address of the network in it. */
interface Trouble {
  readonly reason: string;
  readonly wayOut: string;
}

/** Cause for which a running object gave no answer. */
export type ProbeTrouble =
  | "no-endpoint"
  | "no-password"
  | "private"
  | "unresolved"
  | "refused"
  | "silent"
  | "not-trusted"
  | "no-handshake"
  | "no-tls"
  | "not-ready"
  | "cut"
  | "password-refused"
  | "login-refused";

const troubles: { readonly [trouble in ProbeTrouble]: Trouble } = {
  "no-endpoint": {
    reason: "the service shows no address for it",
    wayOut: "look again once it does",
  },
  "no-password": {
    reason: "there is no password to sign in with",
    wayOut: "declare its password as a secret, and set the secret's variable for this run",
  },
  private: {
    reason: "its network is private and cannot be reached from here",
    wayOut: "run this inside that network",
  },
  unresolved: {
    reason: "its name does not resolve from here",
    wayOut: "check the name service of this machine; the name may be known inside its network only",
  },
  refused: {
    reason: "its port refuses connections",
    wayOut: "check that it is up, and that firewalls and allow lists let this machine in",
  },
  silent: {
    reason: "it did not answer in time",
    wayOut: "check that firewalls and allow lists let this machine in",
  },
  "not-trusted": {
    reason: "its certificate is not trusted here",
    wayOut: "name the file of its authority in GRAPHFORM_CA_FILE",
  },
  "no-handshake": {
    reason: "the TLS handshake with it failed",
    wayOut: "check what stands between: its port may be another service's or a proxy's",
  },
  "no-tls": {
    reason: "it does not speak the declared TLS",
    wayOut: "check config.enableTLS of its instance",
  },
  "not-ready": {
    reason: "it is up and not ready yet",
    wayOut: "look again once it has loaded its data",
  },
  cut: {
    reason: "it ended the connection without an answer",
    wayOut: "check config.enableTLS and the port: something else may listen there",
  },
  "password-refused": {
    reason: "the database refuses the declared password",
    wayOut:
      "graphform apply sets it there; if it was rotated on purpose, put the new one into its secret and plan again",
  },
  "login-refused": {
    reason: "the database refuses the declared user and password",
    wayOut:
      "check the declared user and its secret; if both are right, look at the users of the database at the service",
  },
};

/** The reason of a change whose declared password a database was seen to refuse. */
export const passwordRefused: string = troubles["password-refused"].reason;

/** True for a login that was tried and refused, whether the password alone is to blame or not. */
export function isRefusal(answer: ProbeAnswer): boolean {
  if (answer.is === "unanswered") return answer.reason === troubles["login-refused"].reason;
  return answer.is === "refused";
}

/** The answer of an object that was asked and gave none. */
export function unanswered(trouble: ProbeTrouble): Extract<ProbeAnswer, { readonly is: "unanswered" }> {
  return { is: "unanswered", ...troubles[trouble] };
}

/** The answer of an object that there was nothing to ask with. */
export function notAsked(trouble: ProbeTrouble): Extract<ProbeAnswer, { readonly is: "not-asked" }> {
  return { is: "not-asked", ...troubles[trouble] };
}

/** The answer of an object that refuses the declared value of `path` for certain. */
export function refusedAt(path: string): Extract<ProbeAnswer, { readonly is: "refused" }> {
  return { is: "refused", path, ...troubles["password-refused"] };
}

/**
 * The answers of objects that show the same `endpoint` as another one, by name: the database there may be the other's, and is
 * neither asked nor changed. `outputs` has every object that the service shows.
 */
export function sharedEndpoints(
  outputs: Iterable<readonly [name: string, outputs: JsonObject]>,
): ReadonlyMap<string, ReturnType<typeof unanswered>> {
  return sharedBy(
    [...outputs].map(([name, { endpoint }]) => [name, endpoint]),
    (names) => `${names} show one address: whose database answers there is not known`,
  );
}

/** The answers in place of those in which one database answers for several objects, by name. */
export function sharedDatabases(
  answers: ReadonlyMap<string, ProbeAnswer>,
): ReadonlyMap<string, ReturnType<typeof unanswered>> {
  return sharedBy(
    [...answers].map(([name, answer]) => [name, answer.is === "answered" ? answer.identity : undefined]),
    (names) => `one database answers for ${names}: whose it is is not known`,
  );
}

function sharedBy(
  shown: readonly (readonly [name: string, Json | undefined])[],
  reasonOf: (names: string) => string,
): ReadonlyMap<string, ReturnType<typeof unanswered>> {
  const known = shown.filter(([, value]) => value !== undefined);
  const groups = [...Map.groupBy(known, ([, value]) => value).values()].filter(({ length }) => length > 1);
  return new Map(
    groups.flatMap((group) => {
      const names = group.map(([name]) => name).sort();
      const rest = names.length - 3;
      const reason = reasonOf(
        rest > 0 ? `${names.slice(0, 3).join(", ")} and ${rest} more` : names.join(" and "),
      );
      return names.map((name) => [name, { is: "unanswered", reason, wayOut: remedyForShared }] as const);
    }),
  );
}

const remedyForShared =
  "ask those who run the service; nothing is asked or set there until each has an address of its own";
