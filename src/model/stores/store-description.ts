/** @module Defines the description of a store of states: its keys, addresses and variables, and what it guarantees. */
import { GraphformError, type Problem } from "../errors.ts";
import type { FieldSchema } from "../field-schema.ts";
import type { Json } from "../json.ts";
import { redactedAddress } from "../userinfo.ts";

/** A reason to refuse a value, with its remedy; it shows nothing of the value but a host. */
export type ValueRefusal = Required<Pick<Problem, "code" | "message" | "hint">>;

/** The form of a value, without room for a password. `is` completes "it must be". */
export interface Form {
  readonly pattern: RegExp;
  readonly is: string;
}

/** A key of the manifest's `state` section. */
export interface StoreKey extends FieldSchema {
  readonly form?: Form;
  /** The reason to refuse a value beyond its form. */
  readonly refusal?: (value: string) => ValueRefusal | undefined;
}

/** A variable of the environment that a store is found or signed in to with. */
export interface StoreVariable {
  /** A sentence for the documentation. */
  readonly about: string;
  /** True for a credential: no text shows it. */
  readonly isSecret?: true;
  /** True for credentials of the other end of a move alone. */
  readonly isOtherEnd?: true;
}

/** The values of a location by the key of the section, from a manifest or from an address. */
export type StoreValues = { readonly [key: string]: Json | undefined };

/** Returns the value of a variable of the environment; undefined if it is not set or empty. */
export type GetVariable = (name: string) => string | undefined;

export interface PipelineVariables {
  readonly secrets?: readonly string[];
  readonly variables?: readonly string[];
  /** Variables that may take the place of some of the secrets. */
  readonly instead?: readonly string[];
}

/** Everything that is known of a store but its driver. The checklist of `docs/stores.md` says how to add one. */
export interface StoreDescription<Location extends { readonly type: string }> {
  /** Completes "a state is kept in". */
  readonly place: string;
  /** Keys of the section. Each description begins with the type. */
  readonly keys: { readonly [key: string]: StoreKey };
  /** Keys without which the state cannot be found. */
  readonly required: readonly string[];
  /** By their names. */
  readonly variables: { readonly [name: string]: StoreVariable };
  /** Schemes of its addresses, and the spelling of one. */
  readonly schemes: readonly string[];
  readonly spelling: string;
  /** Parameters of an address, by the key of each; undefined if its query belongs to the address. */
  readonly parameters?: readonly string[];
  /** True if the store refuses a stale write by itself, in the step that writes. */
  readonly refusesStaleWrites: boolean;
  /** True if a lock whose holder has died ends by itself. */
  readonly locksExpire: boolean;
  /** The values that an address names beside its parameters. Throws URIError, and `state-address`. */
  readAddress(url: URL, given: string): StoreValues;
  /** The location of these values for the manifest of this name; what they leave out has its default. */
  locate(values: StoreValues, name: string): Location;
  /** The location as one word that `readAddress` reads. It leaves out how an HTTP address is locked. */
  address(location: Location): string;
  /** The location without what two spellings of one place may differ in: defaults, and how it is reached. Left out: as it is. */
  canonical?(location: Location): Location;
  /** Names the source of the credentials for people; never a value. */
  source(location: Location, variable: GetVariable): string;
  /** The address whose clock decides how old a lock looks; undefined if it is this machine's, or that of a database. */
  clock(location: Location, variable: GetVariable): string | undefined;
  /** The host that the credentials go to; those of one are never sent to another one. Left out: they are meant for no host. */
  credentialHost?(location: Location): string | undefined;
  /** The key at which a section contradicts itself, with the reason. */
  contradiction?(section: StoreValues): (ValueRefusal & { readonly key: string }) | undefined;
  /** The variables that a pipeline passes for a state of this section. */
  pipeline(section: StoreValues, ci: "github" | "gitlab"): PipelineVariables;
}

/** A row of a text; with a form its description says what it must be. */
export function textKey(description: string, { form, ...more }: StoreKey = {}): StoreKey {
  const formed = form && { pattern: form.pattern.source.replaceAll("\\/", "/"), form };
  const about = form === undefined ? description : `${description} It must be ${form.is}.`;
  return { type: "string", minLength: 1, description: about, ...formed, ...more };
}

export function wordOf<Word extends string>(
  values: StoreValues,
  key: string,
  words: readonly Word[],
): Word | undefined {
  return words.find((word) => word === values[key]);
}

/** The query of an address: its parameters that have a value, or nothing. */
export function queryOf(parameters: StoreValues): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const texts = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  const text = new URLSearchParams(texts).toString();
  // A query may hold both as they are; an endpoint is easier to read so.
  return text === "" ? "" : `?${text.replaceAll("%3A", ":").replaceAll("%2F", "/")}`;
}

export function unreadableAddress(given: string, why: string): GraphformError {
  return new GraphformError(
    "state-address",
    `${redactedAddress(given)} is not a location of a state: ${why}`,
    {
      hint: "name a file, or a URL like s3://BUCKET/KEY, postgres://HOST/DATABASE?name=NAME or https://HOST/PATH",
    },
  );
}
