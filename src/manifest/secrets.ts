/** @module Reads and seals the secrets that a manifest uses. */
import { isGraphformError } from "../model/errors.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { SecretSource } from "../model/manifest.ts";
import type { Open, Seal, Sealed, Template } from "../model/sealed.ts";
import { type Expression, mayHoldExpression, textParts } from "./expression.ts";
import type { Fault } from "./problems/finding.ts";
import { suggest } from "./problems/nearest.ts";
import type { Path } from "./source.ts";
import { mapOf, unresolved } from "./unresolved.ts";

/**
 * Reads the text of a secret. Undefined: it was not read, and checks that need the text are skipped. Throws a
 * GraphformError with a hint where it is unavailable. `name` is for messages: `secret.orders`, `env.READER`.
 */
export type SecretText = (
  name: string,
  source: SecretSource,
) => Promise<string | undefined> | string | undefined;

export type SecretExpression = Expression & { readonly scope: "secret" | "environment" };

/** The secrets of one manifest. */
export interface Secrets {
  /** The sealed secret; `unresolved` where it is unavailable and a problem was reported. */
  sealed(expression: SecretExpression): Sealed | Template;
  readonly seal: Seal;
  sealWhole(parts: readonly (string | Sealed)[], label: string): Sealed;
  /** The text behind a sealed secret; undefined where it was not read. */
  readonly open: Open;
}

/** Stands for a secret that was not read. */
export const unread: Sealed = { $secret: "" };

type Report = (path: Path, expression: SecretExpression, fault: Fault) => void;

interface Use {
  readonly expression: SecretExpression;
  readonly path: Path;
}

/** Reads each secret that `used` names, once. Reports the unavailable ones. */
export async function readSecrets(
  used: JsonObject,
  declared: Json | undefined,
  secretText: SecretText,
  seal: Seal,
  report: Report,
): Promise<Secrets> {
  const texts = new Map<string, string>();
  const sealText: Seal = (text, label) => {
    const sealed = seal(text, label);
    texts.set(sealed.$secret, text);
    return sealed;
  };
  const open: Open = (sealed) => texts.get(sealed.$secret);
  const uses = new Map<string, Use>();
  collectUses(used, [], uses);
  const values = new Map<string, Sealed | Template>();
  const section = mapOf(declared);
  const names = Object.keys(section);
  const read = async ([name, use]: readonly [string, Use]): Promise<void> => {
    const source = sourceOf(use, section, names, report);
    values.set(name, source === undefined ? unresolved : await readOne(name, use, source));
  };
  const readOne = async (name: string, use: Use, source: SecretSource): Promise<Sealed | Template> => {
    const fault = {
      code: "empty-secret",
      message: `${name} is empty`,
      hint: "check where it comes from; a secret has at least one character",
    };
    try {
      const text = await secretText(name, source);
      if (text === undefined) return unread;
      if (text !== "") return sealText(text, name);
      report(use.path, use.expression, fault);
    } catch (error) {
      if (!isGraphformError(error)) throw error;
      report(use.path, use.expression, {
        code: error.code,
        message: error.message,
        hint: error.hint ?? "check where it comes from",
      });
    }
    return unresolved;
  };
  await Promise.all([...uses].map(read));
  return {
    open,
    seal: sealText,
    sealed: (expression) => values.get(nameOf(expression)) ?? unresolved,
    sealWhole: (parts, label) => {
      const opened = parts.map((part) => (typeof part === "string" ? part : open(part)));
      return opened.includes(undefined) ? unread : sealText(opened.join(""), label);
    },
  };
}

/** A secret's name in messages: `secret.orders`, `env.READER`. */
function nameOf(expression: SecretExpression): string {
  return `${expression.scope === "secret" ? "secret" : "env"}.${expression.name}`;
}

function collectUses(value: Json, path: Path, uses: Map<string, Use>): void {
  if (typeof value === "string") {
    if (!mayHoldExpression(value)) return;
    for (const part of textParts(value)) {
      if (typeof part === "string" || (part.scope !== "secret" && part.scope !== "environment")) continue;
      const name = nameOf(part);
      if (!uses.has(name)) uses.set(name, { expression: { ...part, scope: part.scope }, path });
    }
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collectUses(item, [...path, index], uses);
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const inner = value[key] ?? null;
      if (typeof inner === "object" || typeof inner === "string") collectInside(inner, path, key, uses);
    }
  }
}

/** Paths are made only where a text can hold an expression: a large manifest has few. */
function collectInside(inner: Json, path: Path, key: string, uses: Map<string, Use>): void {
  if (typeof inner === "string" && !mayHoldExpression(inner)) return;
  collectUses(inner, [...path, key], uses);
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((word: Json) => typeof word === "string") : [];
}

function sourceOf(
  use: Use,
  section: { readonly [name: string]: Json },
  names: readonly string[],
  report: Report,
): SecretSource | undefined {
  const { scope, name } = use.expression;
  if (scope === "environment") return { env: name };
  const source = Object.hasOwn(section, name) ? section[name] : undefined;
  if (source === undefined) {
    const hint = suggest(name, names, "declared");
    report(use.path, use.expression, {
      code: "unknown-secret",
      message: `no secret is called "${name}"`,
      hint,
    });
    return undefined;
  }
  if (!isObject(source)) return undefined;
  const { env, file, command } = { env: source["env"], file: source["file"], command: source["command"] };
  if (typeof env === "string") return { env };
  if (typeof file === "string") return { file };
  const { run = command, env: named } = mapOf(command);
  const words = textsOf(run);
  return words.length > 0 ? { command: words, variables: textsOf(named) } : undefined;
}
