/** @module Parses the `${...}` expressions of a text. */
import { type AddressParts, parseAddress } from "../model/address.ts";
import type { Fault } from "./problems/fault.ts";

/** One parsed `${...}`. `text` is the source, braces included. `output` is empty if the source is an address alone. */
export type Expression =
  | { readonly scope: "variable"; readonly name: string; readonly text: string }
  | {
      readonly scope: "secret" | "environment";
      readonly name: string;
      /** The entry of `secret.name["key"]`; `each` for that of the `forEach` it stands in. */
      readonly entry?: "each" | { readonly key: string };
      readonly text: string;
    }
  | { readonly scope: "each"; readonly keys: readonly string[]; readonly text: string }
  | {
      readonly scope: "output";
      readonly target: AddressParts;
      readonly output: string;
      /** True for `section.name[*].output`: of every resource of a `forEach`. */
      readonly isOfAll?: true;
      readonly text: string;
    }
  | { readonly scope: "none"; readonly word: string; readonly fault: Fault; readonly text: string };

export type TextPart = string | Expression;

/** False for texts without any expression. It is cheap, and most texts have none. */
export function mayHoldExpression(text: string): boolean {
  return text.includes("${");
}

const parsedTexts = new Map<string, readonly TextPart[]>();
const mostRemembered = 10_000;

/** Splits a text into its parts. `$${` is a literal `${`. Checks the grammar only, not the names. */
export function textParts(text: string): readonly TextPart[] {
  const known = parsedTexts.get(text);
  if (known !== undefined) return known;
  const parts = splitText(text);
  if (parsedTexts.size >= mostRemembered) parsedTexts.clear();
  parsedTexts.set(text, parts);
  return parts;
}

/** Repetitions are bounded: matching keeps each one on a stack, and a text may be the whole file. */
const bracketed = /\$\{((?:[^{}"]|"(?:[^"\\]|\\.){0,2000}"){0,2000})\}/y;

function splitText(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let literal = "";
  let at = 0;
  for (let next = text.indexOf("${"); next >= 0; next = text.indexOf("${", at)) {
    if (next > at && text[next - 1] === "$") {
      literal += `${text.slice(at, next - 1)}\${`;
      at = next + 2;
      continue;
    }
    literal += text.slice(at, next);
    bracketed.lastIndex = next;
    const match = bracketed.exec(text);
    if (literal !== "") parts.push(literal);
    literal = "";
    if (match === null) {
      const message = "${ is opened and never closed";
      const hint = "close it with }, or write $${ for a literal ${";
      const fault = { code: "bad-reference", message, hint };
      return [...parts, { scope: "none", word: "", fault, text: "${" }];
    }
    parts.push(parseExpression((match[1] ?? "").trim(), match[0]));
    at = next + match[0].length;
  }
  literal += text.slice(at);
  return literal === "" && parts.length > 0 ? parts : [...parts, literal];
}

const nameShape = /^[A-Za-z_][A-Za-z0-9_-]*$/;

function parseExpression(inner: string, text: string): Expression {
  const dot = inner.indexOf(".");
  const word = dot < 0 ? inner : inner.slice(0, dot);
  const rest = dot < 0 ? "" : inner.slice(dot + 1);
  switch (word) {
    case "var":
    case "env":
      if (!nameShape.test(rest)) return misspelt(text, word, word === "var" ? "${var.name}" : "${env.NAME}");
      return { scope: word === "var" ? "variable" : "environment", name: rest, text };
    case "secret":
      return parseSecret(rest, text);
    case "each":
      return rest === "key" || rest === "value" || rest.startsWith("value.")
        ? { scope: "each", keys: rest.split("."), text }
        : misspelt(text, word, "${each.key} or ${each.value}");
    default:
      return parseOutput(inner, word, text);
  }
}

function parseSecret(rest: string, text: string): Expression {
  const [, name, entry] =
    /^([A-Za-z_][A-Za-z0-9_-]*)(?:\[(each\.key|"(?:[^"\\]|\\.)*")\])?$/.exec(rest) ?? [];
  const key =
    entry === undefined || entry === "each.key" ? undefined : parseAddress(`secret.x[${entry}]`)?.key;
  if (name === undefined || (entry !== undefined && entry !== "each.key" && key === undefined))
    return misspelt(text, "secret", '${secret.name}, ${secret.name[each.key]} or ${secret.name["key"]}');
  const one = { scope: "secret", name, text } as const;
  if (entry === undefined) return one;
  return { ...one, entry: key === undefined ? "each" : { key } };
}

function parseOutput(inner: string, word: string, text: string): Expression {
  const whole = parseAddress(inner);
  if (whole !== undefined) return { scope: "output", target: whole, output: "", text };
  const dot = inner.lastIndexOf(".");
  const target = parseAddress(inner.slice(0, Math.max(dot, 0)));
  const output = inner.slice(dot + 1);
  if (target !== undefined && nameShape.test(output)) return { scope: "output", target, output, text };
  const [, all = ""] = /^(.*)\[\*\]$/.exec(inner.slice(0, Math.max(dot, 0))) ?? [];
  const block = parseAddress(all);
  if (block !== undefined && block.key === undefined && nameShape.test(output))
    return { scope: "output", target: block, output, isOfAll: true, text };
  return misspelt(
    text,
    word,
    "${var.x}, ${secret.x}, ${env.X}, ${each.key}, ${each.value} or ${section.name.output}",
  );
}

function misspelt(text: string, word: string, form: string): Expression {
  const fault: Fault = {
    code: "bad-reference",
    message: `${text} is not a reference`,
    hint: `write ${form}; $\${ is a literal \${`,
  };
  return { scope: "none", word, fault, text };
}
