/** @module Defines what a running object is asked and answers, and names the causes for which it gives no answer, each with its remedy. */
import type { Address } from "./address.ts";
import { fieldRows, type KindSchema } from "./field-schema.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Live } from "./observed.ts";
import { fewOf } from "./quantity.ts";
import type { Spec } from "./spec.ts";

/** True for a kind that shows no more than whether its login is taken: a user of a database, and no database. */
export function isLoginKind(schema: KindSchema): boolean {
  return [...fieldRows(schema).values()].every(
    ({ "x-probe": probe }) => probe === undefined || ("connection" in probe && probe.connection === "login"),
  );
}

/** An object, and everything that it is asked with. It holds opened secrets, lives for one question and goes nowhere else. */
export interface ProbeRequest {
  readonly live: Live;
  /** Declared values that are known now, secrets opened. */
  readonly spec: Spec;
  /** The objects that the spec refers to, by the path of the reference. */
  readonly referents: { readonly [path: string]: Referent };
}

/** An object that another one refers to. */
export interface Referent {
  readonly outputs: JsonObject;
  /** The values that were declared or last applied. */
  readonly spec: Spec;
}

/** `refused`: it surely refuses the declared value of `path`. `unanswered`: it was asked. `not-asked`: nothing to ask, or to ask with. */
export type ProbeAnswer =
  | {
      readonly is: "answered";
      /** Path -> the engine's own value; true if the connection proves what is declared. */
      readonly values: { readonly [path: string]: RawValue };
      readonly engine?: string;
      /** Tells the running process from every other one; absent if it does not say. */
      readonly identity?: string;
      /** Says what it refused to tell, if it did. */
      readonly denied?: string;
    }
  | ({ readonly is: "refused"; readonly path: string } & Unanswered)
  | ({ readonly is: "unanswered" } & Unanswered)
  | ({ readonly is: "not-asked" } & Unanswered);

/** The answer of an object that was asked and gave none. */
export type NoAnswer = Extract<ProbeAnswer, { readonly is: "unanswered" }>;

/** The reason for an answer that is missing, and what can be done about it. */
interface Unanswered {
  readonly reason: string;
  readonly wayOut?: string;
}

/** A value as the engine gives it. */
export type RawValue = number | string | boolean;

/** The reason why no object was asked if the run was told to ask none. */
export const notAskedFor = "--no-probe";

/** An object that was not asked, did not answer, or refuses the declared password. */
export interface NotProbed extends Unanswered {
  readonly address: Address;
  /** A login of a user of a database, and no database. */
  readonly login?: true;
  /** It was asked, and did not answer all: what it shows is not known. */
  readonly failed?: true;
  /** It was tried, and refuses the declared password. */
  readonly refused?: true;
}

/** Causes for which a running object gave no answer, each with its remedy. None names a value of the manifest or an address. */
const troubles = {
  "no-endpoint": ["the service shows no address for it", "look again once it does"],
  "no-password": [
    "there is no password to sign in with",
    "declare its password as a secret, and set the secret's variable for this run",
  ],
  private: ["its network is private and cannot be reached from here", "run this inside that network"],
  unresolved: [
    "its name does not resolve from here",
    "check the name service of this machine; the name may be known inside its network only",
  ],
  refused: [
    "its port refuses connections",
    "check that it is up, and that firewalls and allow lists let this machine in",
  ],
  silent: ["it did not answer in time", "check that firewalls and allow lists let this machine in"],
  "not-trusted": [
    "its certificate is not trusted here",
    "name the file of its authority in GRAPHFORM_CA_FILE",
  ],
  "no-handshake": [
    "the TLS handshake with it failed",
    "check what stands between: its port may be another service's or a proxy's",
  ],
  "no-tls": ["it does not speak the declared TLS", "check config.enableTLS of its instance"],
  "not-ready": ["it is up and not ready yet", "look again once it has loaded its data"],
  cut: [
    "it ended the connection without an answer",
    "check config.enableTLS and the port: something else may listen there",
  ],
  "password-refused": [
    "the database refuses the declared password",
    "graphform apply sets it there; if it was rotated on purpose, put the new one into its secret and plan again",
  ],
  "login-refused": [
    "the database refuses the declared user and password",
    "check the declared user and its secret; if both are right, look at the users of the database at the service",
  ],
} as const;

export type ProbeTrouble = keyof typeof troubles;

function wordsOf(trouble: ProbeTrouble): { readonly reason: string; readonly wayOut: string } {
  const [reason, wayOut] = troubles[trouble];
  return { reason, wayOut };
}

/** The reason of a change whose declared password a database was seen to refuse. */
export const passwordRefused: string = troubles["password-refused"][0];

/** True for a login that was tried and refused, whether the password alone is to blame or not. */
export function isRefusal(answer: ProbeAnswer): boolean {
  if (answer.is === "unanswered") return answer.reason === troubles["login-refused"][0];
  return answer.is === "refused";
}

/** The answer of an object that was asked and gave none. */
export function unanswered(trouble: ProbeTrouble): NoAnswer {
  return { is: "unanswered", ...wordsOf(trouble) };
}

/** The answer of an object that there was nothing to ask with. */
export function notAsked(trouble: ProbeTrouble): Extract<ProbeAnswer, { readonly is: "not-asked" }> {
  return { is: "not-asked", ...wordsOf(trouble) };
}

/** The answer of an object that refuses the declared value of `path` for certain. */
export function refusedAt(path: string): Extract<ProbeAnswer, { readonly is: "refused" }> {
  return { is: "refused", path, ...wordsOf("password-refused") };
}

/** The answers in place of those in which one database answers for several objects, by name. An object may have two names: an import binds it anew. */
export function sharedDatabases(
  answers: ReadonlyMap<string, ProbeAnswer>,
  idOf: (name: string) => Json | undefined,
): ReadonlyMap<string, NoAnswer> {
  const groups = Map.groupBy(answers, ([, answer]) => answer.is === "answered" && answer.identity);
  return new Map(
    [...groups].flatMap(([identity, group]) => {
      const names = group.map(([name]) => name);
      if (typeof identity !== "string" || new Set(names.map(idOf)).size === 1) return [];
      const answer = sharedBy(names, (all) => `one database answers for ${all}: whose it is`);
      return names.map((name) => [name, answer] as const);
    }),
  );
}

/** The answer of objects that show what only one of them can have. */
export function sharedBy(names: readonly string[], wordsOf: (names: string) => string): NoAnswer {
  const reason = `${wordsOf(fewOf(names.toSorted()))} is not known`;
  return { is: "unanswered", reason, wayOut: remedyForShared };
}

const remedyForShared =
  "ask those who run the service; nothing is asked or set there until each has an address of its own";
