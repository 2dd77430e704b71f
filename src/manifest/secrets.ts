/** @module Reads and seals the secrets that a manifest uses, and finds the variables that they come from. */
import { isGraphformError } from "../model/errors.ts";
import { isObject, type Json, type JsonObject, own, stableJson } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import type { ManifestLimits, SecretSource } from "../model/manifest.ts";
import { perObject } from "../model/once.ts";
import type { Open, Seal, Sealed, Template } from "../model/sealed.ts";
import { type Expression, mayHoldExpression, textParts } from "./expression.ts";
import { allowedSource } from "./limits.ts";
import { type Fault, type Report, suggest } from "./problems/fault.ts";
import { secretPaths } from "./schema/shape.ts";
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
  const owners = new Map<string, string>();
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
    if (use.key !== undefined && "env" in source) {
      const other = owners.get(`${use.expression.name} ${source.env}`);
      const message = `${name} and ${other} would both be read from the environment variable ${source.env}`;
      if (other !== undefined) return refuse(use, { code: "shared-secret", message, hint: apart });
      owners.set(`${use.expression.name} ${source.env}`, name);
    }
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

const apart =
  "let the keys differ in more than case and signs, or use files: ${each.key} in the name of each";

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
  const source = own(section, name);
  if (source === undefined) {
    const hint = suggest(name, names, "declared");
    return { code: "unknown-secret", message: `no secret is called "${name}"`, hint };
  }
  if (!isObject(source) || declarationFault(source, limits) !== undefined) return undefined;
  return entryFault(use, source) ?? allowed(sourceIn(source, use.key));
}

/** The fault of a declared secret that may not be read, for any value of `each.key`. */
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

export interface SecretVariables {
  readonly whole: ReadonlySet<string>;
  /** Variables that are at least a part of a secret field, or contain one; includes `whole`. */
  readonly part: ReadonlySet<string>;
  /** Texts that stand in secret fields as they are, with no expression in them. */
  readonly literals: ReadonlySet<string>;
}

/** Decides by the use of a variable in the manifest, never by its value. */
export const secretVariables: (manifest: JsonObject) => (kinds: readonly Kind[]) => SecretVariables =
  perObject((manifest) =>
    perObject((kinds) => {
      const whole = new Set<string>();
      const part = new Set<string>();
      const literals = new Set<string>();
      for (const { text, isField, forEach } of secretTexts(manifest, kinds)) {
        if (isField && !text.includes("${")) literals.add(text);
        const sources = openSources(text);
        const [only] = sources;
        if (isField && only?.scope === "variable" && only.text === text) whole.add(only.name);
        for (const source of sources)
          for (const name of source.scope === "variable" ? [source.name] : variablesIn(forEach))
            part.add(name);
      }
      return { whole, part, literals };
    }),
  );

/** The text of every secret field as it is written. */
function* secretTexts(
  manifest: JsonObject,
  kinds: readonly Kind[],
): Iterable<NonNullable<ReturnType<typeof textOn>> & { readonly forEach: Json | undefined }> {
  for (const kind of kinds) {
    const defaults = mapOf(mapOf(manifest["defaults"])[kind.name]);
    for (const written of Object.values(mapOf(manifest[kind.name]))) {
      const body = mapOf(written);
      for (const path of secretPaths(kind.schema)) {
        const found = textOn(body, path) ?? textOn(defaults, path);
        if (found !== undefined) yield { ...found, forEach: body["forEach"] ?? defaults["forEach"] };
      }
    }
  }
}

type OpenSource = Expression & { readonly scope: "variable" | "each" };

/** Variables and `each` expressions of a text; none if the text has a declared secret or an environment variable. */
export function openSources(text: string): readonly OpenSource[] {
  const parts = textParts(text).filter((part) => typeof part !== "string");
  if (parts.some(({ scope }) => scope === "secret" || scope === "environment")) return [];
  return parts.filter((part) => part.scope === "variable" || part.scope === "each");
}

/** The text of a field, or the expression in place of a map around it; undefined if there is neither. */
export function textOn(
  body: JsonObject,
  path: string,
): { readonly text: string; readonly isField: boolean } | undefined {
  let value: Json | undefined = body;
  for (const key of path.split(".")) {
    if (typeof value === "string") return { text: value, isField: false };
    value = isObject(value) ? own(value, key) : undefined;
  }
  return typeof value === "string" ? { text: value, isField: true } : undefined;
}

function variablesIn(value: Json | undefined): readonly string[] {
  const parts = textsIn(value, mayHoldExpression).flatMap(({ text }) => textParts(text));
  return parts.flatMap((part) => (typeof part !== "string" && part.scope === "variable" ? [part.name] : []));
}
