/** @module Defines sealed secrets, templates and references inside of values. */
import { isObject, type Json, type JsonObject } from "./json.ts";

/** Stands in place of a secret in everything that is shown. */
export const sensitive = "(sensitive)";

/**
 * A secret as everything but the last request sees it: a fingerprint (HMAC-SHA256 under the state's key), or, in a plan made before
 * there is a state, its label. Equal secrets of one state have equal fingerprints; nothing leads back to the text.
 */
export interface Sealed extends JsonObject {
  readonly $secret: string;
}

/** A value made when it is needed of texts, sealed secrets and references to outputs. One part alone keeps its type. */
export interface Template extends JsonObject {
  readonly $template: readonly TemplatePart[];
}

/** An output of another resource: `{ $ref: "instances.orders.endpoint" }`. */
export interface Reference extends JsonObject {
  readonly $ref: string;
}

export type TemplatePart = string | Sealed | Reference;

export function isSealed(value: unknown): value is Sealed {
  return isObject(value) && typeof value["$secret"] === "string";
}

export function isReference(value: unknown): value is Reference {
  return isObject(value) && typeof value["$ref"] === "string";
}

/** True for a value that waits for outputs. */
export function isTemplate(value: unknown): value is Template {
  return isObject(value) && Array.isArray(value["$template"]);
}

export function secretsIn(value: unknown): readonly Sealed[] {
  if (isSealed(value)) return [value];
  if (Array.isArray(value)) return value.flatMap(secretsIn);
  return isObject(value) ? Object.values(value).flatMap(secretsIn) : [];
}

export function holdsSecret(value: Json | undefined): boolean {
  return secretsIn(value).length > 0;
}

/**
 * Seals a plain secret, and remembers the text in memory only. `label` says where it comes from: `secret.orders`, `env.READER`,
 * `var.word`, or the address and the field.
 */
export type Seal = (plaintext: string, label: string) => Sealed;

/** Opens a sealed secret; undefined if this run never saw its text. */
export type Open = (sealed: Sealed) => string | undefined;

/** The secrets of one run. The text lives here and nowhere else. */
export interface Vault {
  readonly seal: Seal;
  readonly open: Open;
  /** The secret that this run sealed under a label; undefined if there is none. */
  labelled(label: string): Sealed | undefined;
  /** Every text that was sealed, for redaction at the edge. */
  texts(): ReadonlySet<string>;
}
