/** @module Reads and seals the secrets that a manifest uses. */
import { isGraphformError } from "../model/errors.ts";
import { isObject, type Json, type JsonObject, stableJson } from "../model/json.ts";
import type { ManifestLimits, SecretSource } from "../model/manifest.ts";
import type { Open, Seal, Sealed, Template } from "../model/sealed.ts";
import { type Expression, mayHoldExpression, textParts } from "./expression.ts";
import { allowedSource } from "./limits.ts";
import type { Fault, Report } from "./problems/fault.ts";
import { suggest } from "./problems/nearest.ts";
import type { Path } from "./source.ts";
import { mapOf, textsIn, textsOf, unresolved } from "./values.ts";

/** Undefined: the text was not read, and checks that need it are skipped. Throws `secret-unavailable`. `name` is for messages: `env.READER`. */
export type SecretText = (
  name: string,
  source: SecretSource,
) => Promise<string | undefined> | string | undefined;

export type SecretExpression = Expression & { readonly scope: "secret" | "environment" };

export interface Secrets {
  /** The sealed secret, of the entry `each` of a `forEach`; `unresolved` if it is unavailable and a problem was reported. */
  sealed(expression: SecretExpression, each: string | undefined): Sealed | Template;
  readonly seal: Seal;
  sealWhole(parts: readonly (string | Sealed)[], label: string): Sealed;
  /** The text behind a sealed secret; undefined if it was not read. */
  readonly open: Open;
}

/** Stands for a secret that was not read. */
export const unread: Sealed = { $secret: "" };

/** Reads, seals and limits the secrets of a manifest. */
export interface SecretInputs {
  readonly secretText: SecretText;
  readonly seal: Seal;
  readonly limits?: ManifestLimits | undefined;
}

interface Use {
  readonly expression: SecretExpression;
  readonly path: Path;
  /** The entry that it is the secret of; undefined for one secret of all. */
  readonly key: string | undefined;
}

/** Reads each secret that `used` names, once. `keysAt`: the keys of the `forEach` that a path stands in. Reports unavailable ones. */
export async function readSecrets(
  used: JsonObject,
  declared: Json | undefined,
  { secretText, seal, limits }: SecretInputs,
  report: Report,
  keysAt: (path: Path) => readonly string[],
): Promise<Secrets> {
  const texts = new Map<string, string>();
  const sealText: Seal = (text, label) => {
    const sealed = seal(text, label);
    texts.set(sealed.$secret, text);
    return sealed;
  };
  const open: Open = (sealed) => texts.get(sealed.$secret);
  const uses = new Map<string, Use>();
  for (const { text, path } of textsIn(used, mayHoldExpression))
    for (const part of textParts(text)) {
      if (typeof part === "string" || (part.scope !== "secret" && part.scope !== "environment")) continue;
      const expression = { ...part, scope: part.scope };
      for (const each of expression.entry === "each" ? keysAt(path) : [undefined]) {
        const name = nameOf(expression, each);
        if (!uses.has(name)) uses.set(name, { expression, path, key: keyOf(expression, each) });
      }
    }
  const values = new Map<string, Sealed | Template>();
  const section = mapOf(declared);
  const names = Object.keys(section);
  const refuse = ({ path, expression }: Use, fault: Fault): Template => {
    report.error(path, fault, "value", expression);
    return unresolved;
  };
  const readOne = async (name: string, use: Use): Promise<Sealed | Template> => {
    const source = sourceOf(use, section, names, limits);
    if (source === undefined) return unresolved;
    if ("message" in source) return refuse(use, source);
    const hint = "check where it comes from; a secret has at least one character";
    try {
      const text = await secretText(name, source);
      if (text === undefined) return unread;
      if (text !== "") return sealText(text, name);
      return refuse(use, { code: "empty-secret", message: `${name} is empty`, hint });
    } catch (error) {
      if (!isGraphformError(error)) throw error;
      const { code, message } = error;
      return refuse(use, { code, message, hint: error.hint ?? "check where it comes from" });
    }
  };
  const read = async ([name, use]: readonly [string, Use]): Promise<void> =>
    void values.set(name, await readOne(name, use));
  await Promise.all([...uses].map(read));
  return {
    open,
    seal: sealText,
    sealed: (expression, each) => values.get(nameOf(expression, each)) ?? unresolved,
    sealWhole: (parts, label) => {
      const opened = parts.map((part) => (typeof part === "string" ? part : open(part)));
      return opened.includes(undefined) ? unread : sealText(opened.join(""), label);
    },
  };
}

/** A secret's name in messages: `secret.orders`, `secret.cache["eu"]`, `env.READER`. */
function nameOf(expression: SecretExpression, each: string | undefined): string {
  const key = keyOf(expression, each);
  const entry = key === undefined ? "" : `[${JSON.stringify(key)}]`;
  return `${expression.scope === "secret" ? "secret" : "env"}.${expression.name}${entry}`;
}

function keyOf({ entry }: SecretExpression, each: string | undefined): string | undefined {
  return entry === "each" ? each : entry?.key;
}

/** The source of a secret, or the fault of its use; undefined if its declaration was reported already. */
function sourceOf(
  use: Use,
  section: JsonObject,
  names: readonly string[],
  limits: ManifestLimits | undefined,
): SecretSource | Fault | undefined {
  const { scope, name } = use.expression;
  const allowed = (source: SecretSource | undefined): SecretSource | Fault | undefined =>
    source === undefined || limits === undefined ? source : allowedSource(source, limits);
  if (scope === "environment") return allowed({ env: name });
  const source = Object.hasOwn(section, name) ? section[name] : undefined;
  if (source === undefined) {
    const hint = suggest(name, names, "declared");
    return { code: "unknown-secret", message: `no secret is called "${name}"`, hint };
  }
  if (!isObject(source) || declarationFault(source, limits) !== undefined) return undefined;
  return entryFault(use, source) ?? allowed(sourceIn(source, use.key));
}

/** The fault of a declared secret that may not be read, whatever stands for `each.key`. */
export function declarationFault(source: Json, limits: ManifestLimits | undefined): Fault | undefined {
  const found = limits && isObject(source) ? sourceIn(source, "x") : undefined;
  const allowed = limits && found && allowedSource(found, limits);
  return allowed !== undefined && "message" in allowed ? allowed : undefined;
}

const eachKey = /\$\{\s*each\.key\s*\}/g;

/** The fault of a use that names an entry of one secret, or no entry of one that each entry has. */
function entryFault({ expression, key }: Use, source: JsonObject): Fault | undefined {
  const isKeyed = stableJson(source).search(eachKey) >= 0;
  if (isKeyed === (key !== undefined)) return undefined;
  const { name, text } = expression;
  const [message, hint] = isKeyed
    ? [
        `${text}: each entry has a secret of its own`,
        `write \${secret.${name}[each.key]}, or \${secret.${name}["key"]}`,
      ]
    : [
        `${text}: every entry has the same secret`,
        `write \${secret.${name}}, or put \${each.key} into its source`,
      ];
  return { code: "bad-reference", message, hint };
}

/** The source for an entry: its key in place of `each.key`; in the name of a variable in capitals, with `_` for other characters. */
export function sourceIn(source: JsonObject, key: string | undefined): SecretSource | undefined {
  const filled = (text: string, word = key): string =>
    word === undefined ? text : text.replaceAll(eachKey, () => word);
  const { env, file, command } = source;
  if (typeof env === "string") return { env: filled(env, key?.toUpperCase().replaceAll(/[^A-Z0-9_]/g, "_")) };
  if (typeof file === "string") return { file: filled(file) };
  const { run = command, env: named } = mapOf(command);
  const words = textsOf(run).map((word) => filled(word));
  return words.length > 0 ? { command: words, variables: textsOf(named) } : undefined;
}
