/** @module Decides which variables, secrets and outputs a place of the manifest may use. */
import { isObject, type Json, type JsonObject } from "../model/json.ts";
import { isReference, type Reference } from "../model/sealed.ts";
import type { Expression } from "./expression.ts";
import { type Fault, listed, nearest, suggest } from "./problems/fault.ts";
import type { Scope } from "./resolve-value.ts";
import { type Secrets, unread } from "./secrets.ts";
import type { Path } from "./source.ts";
import { unresolved } from "./values.ts";
import type { Variables } from "./variables.ts";

export interface Iteration {
  readonly key: string;
  readonly value: Json;
}

export type OutputExpression = Expression & { readonly scope: "output" };

export interface ScopeRules {
  readonly variables: Variables;
  /** Absent if no secret may stand here. */
  readonly secrets?: Secrets;
  /** Absent outside of a `forEach`. */
  readonly each?: Iteration;
  /** Parts of the iteration that are a secret field by themselves: `value.password`. */
  readonly secretParts?: ReadonlySet<string>;
  /** Prefix of the label of a secret that is composed at a path. */
  readonly label?: string;
  /** Names of all sections that have outputs, for hints. */
  readonly sections: readonly string[];
  /** The fault of a secret at this path; undefined if one is allowed. */
  refusesSecret(expression: Pick<Expression, "text">, path: Path): Fault | undefined;
  /** The reference of an expression, or its fault. */
  reference(expression: OutputExpression, path: Path): Reference | Fault;
  /** The value of `section.name[*].output`, or its fault. Absent if a map of values has no place here. */
  referenceAll?(expression: OutputExpression): { readonly value: JsonObject } | { readonly fault: Fault };
  report(expression: Expression, path: Path, fault: Fault): void;
}

export function scopeOf(rules: ScopeRules): Scope {
  const refuse = (expression: Expression, path: Path, fault: Fault): typeof unresolved => {
    rules.report(expression, path, fault);
    return unresolved;
  };
  return {
    variable: (expression, path) => {
      const { values, names, secret } = rules.variables;
      const value = values.get(expression.name);
      if (value !== undefined) {
        if (typeof value === "object" || !secret.whole.has(expression.name)) return value;
        const fault = rules.refusesSecret(expression, path);
        if (fault !== undefined) return refuse(expression, path, { ...fault, hint: openSecret });
        if (typeof value !== "string" || value === "") return value;
        return rules.secrets?.seal(value, `var.${expression.name}`) ?? unresolved;
      }
      const hint = suggest(expression.name, names, "declared");
      const message = `no variable is called "${expression.name}"`;
      return refuse(expression, path, { code: "unknown-variable", message, hint });
    },
    each: (expression, path) => {
      const found = eachValue(expression, rules.each);
      if ("fault" in found) return refuse(expression, path, found.fault);
      const isSecret = rules.secretParts?.has(expression.keys.join(".")) === true;
      if (typeof found.value === "object" || !isSecret) return found.value;
      const fault = rules.refusesSecret(expression, path);
      return fault === undefined ? found.value : refuse(expression, path, { ...fault, hint: openSecret });
    },
    secret: (expression, path) => {
      const fault = rules.refusesSecret(expression, path);
      if (fault !== undefined) return refuse(expression, path, fault);
      if (expression.scope === "secret" && expression.entry === "each" && rules.each === undefined)
        return refuse(expression, path, outsideOfForEach(expression));
      return rules.secrets?.sealed(expression, rules.each?.key) ?? unresolved;
    },
    output: (expression, path) => {
      const { isOfAll = false, text } = expression;
      const { section } = expression.target;
      if (!rules.sections.includes(section)) {
        const hint = suggest(section, [...scopeWords, ...rules.sections], "a reference begins with");
        const message = `${text}: "${section}" cannot be referred to`;
        return refuse(expression, path, { code: "bad-reference", message, hint });
      }
      if (isOfAll) {
        const hint = "name one of them by its key; under outputs all may stand together";
        const fault = { code: "bad-reference", message: `${text} is a map of several values`, hint };
        const all = rules.referenceAll?.(expression) ?? { fault };
        return "fault" in all ? refuse(expression, path, all.fault) : all.value;
      }
      const found = rules.reference(expression, path);
      return isReference(found) ? found : refuse(expression, path, found);
    },
    sealWhole: (parts, path) => {
      // The label of a composed secret: the address and the field, or the output.
      const label = [...(rules.label === undefined ? [] : [rules.label]), path.join(".")].join(" ");
      return rules.secrets?.sealWhole(parts, label) ?? unread;
    },
    report: (expression, path, fault) => {
      const word = expression.scope === "none" ? expression.word : "";
      const near = word === "" ? undefined : nearest(word, [...scopeWords, ...rules.sections]);
      const hint = near === undefined || near === word ? fault.hint : `did you mean "${near}"? ${fault.hint}`;
      rules.report(expression, path, { ...fault, hint });
    },
  };
}

const openSecret = "a secret field is made of it: use something else here, or a declared secret there";

const scopeWords: readonly string[] = ["var", "secret", "env", "each"];

function outsideOfForEach({ text }: Expression): Fault {
  const hint = "add forEach: [a, b] to the resource, or use a variable";
  return { code: "bad-reference", message: `${text} is used outside of a forEach`, hint };
}

function eachValue(
  expression: Expression & { scope: "each" },
  each: Iteration | undefined,
): { readonly value: Json } | { readonly fault: Fault } {
  if (each === undefined) return { fault: outsideOfForEach(expression) };
  const [first, ...keys] = expression.keys;
  if (first === "key") return { value: each.key };
  let value = each.value;
  for (const key of keys) {
    if (!isObject(value) || !Object.hasOwn(value, key)) {
      const hint = isObject(value)
        ? listed(Object.keys(value), "it has")
        : "only a map has parts that can be named";
      const message = `${expression.text}: there is no "${key}" for ${JSON.stringify(each.key)}`;
      return { fault: { code: "bad-reference", message, hint } };
    }
    value = value[key] ?? null;
  }
  return { value };
}
