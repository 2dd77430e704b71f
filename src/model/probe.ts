/** @module Defines questions to the running object itself, beside those to the service. */
import type { Address } from "./address.ts";
import type { JsonObject } from "./json.ts";
import type { Live } from "./observed.ts";
import type { Spec } from "./spec.ts";

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

/**
 * The answer of a running object. `refused`: it runs, and refuses the declared value of `path` for certain. `unanswered`: it
 * was asked and did not answer. `not-asked`: there was nothing to ask, or nothing to ask with.
 */
export type ProbeAnswer =
  | {
      readonly is: "answered";
      /** Path -> the engine's own value; true where the connection proves what is declared. */
      readonly values: { readonly [path: string]: RawValue };
      /** Version of the engine. */
      readonly engine?: string;
      /** Tells the running process from every other one; absent where it does not say. */
      readonly identity?: string;
      /** Says what it refused to tell, where it did. */
      readonly denied?: string;
    }
  | ({ readonly is: "refused"; readonly path: string } & Unanswered)
  | ({ readonly is: "unanswered" } & Unanswered)
  | ({ readonly is: "not-asked" } & Unanswered);

/** The reason for an answer that is missing, and what can be done about it. */
interface Unanswered {
  readonly reason: string;
  readonly wayOut?: string;
}

/** A value as the engine gives it. */
export type RawValue = number | string | boolean;

/** The reason why no object was asked where the run was told to ask none. */
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
