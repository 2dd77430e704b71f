/** A value of an expression of GitHub Actions. */
export type Value = string | boolean | null;

/** What an expression may look up, and how the steps before it have ended. */
export interface Scope {
  /** Value of `steps.plan.outputs.changed`; null where there is none. */
  readonly look: (path: readonly string[]) => Value;
  readonly failed: boolean;
  readonly cancelled: boolean;
}

/** Evaluates the part of the expression language that workflows here use; throws at anything else. */
function evaluate(text: string, scope: Scope): Value {
  const tokens = [...text.matchAll(/\s*('(?:[^']|'')*'|==|!=|&&|\|\||[!()]|[A-Za-z_][\w.-]*)\s*/gy)].map(
    ([, token = ""]) => token,
  );
  if (tokens.join("").length !== text.replaceAll(/\s+(?=(?:[^']*'[^']*')*[^']*$)/g, "").length)
    throw new Error(`not an expression of these tests: ${text}`);
  let at = 0;
  const next = (): string => tokens[at++] ?? "";
  const truthy = (value: Value): boolean => value !== null && value !== "" && value !== false;
  const primary = (): Value => {
    const token = next();
    if (token === "!") return !truthy(primary());
    if (token === "(") {
      const inner = either();
      if (next() !== ")") throw new Error(`a bracket is open: ${text}`);
      return inner;
    }
    if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
    if (tokens[at] === "(") {
      at += 2;
      const known: { readonly [name: string]: boolean } = {
        always: true,
        success: !scope.failed && !scope.cancelled,
        failure: scope.failed,
        cancelled: scope.cancelled,
      };
      const result = known[token];
      if (result === undefined) throw new Error(`no such function: ${token}`);
      return result;
    }
    if (token === "true" || token === "false") return token === "true";
    return scope.look(token.split("."));
  };
  const compared = (): Value => {
    const left = primary();
    const sign = tokens[at];
    if (sign !== "==" && sign !== "!=") return left;
    at += 1;
    const right = primary();
    // Missing values are equal to the empty string, as they are there.
    const same = String(left ?? "") === String(right ?? "");
    return sign === "==" ? same : !same;
  };
  const both = (): Value => {
    let value = compared();
    while (tokens[at] === "&&") {
      at += 1;
      const right = compared();
      value = truthy(value) ? right : value;
    }
    return value;
  };
  const either = (): Value => {
    let value = both();
    while (tokens[at] === "||") {
      at += 1;
      const right = both();
      value = truthy(value) ? value : right;
    }
    return value;
  };
  const value = either();
  if (at !== tokens.length) throw new Error(`not an expression of these tests: ${text}`);
  return value;
}

/** The condition of a step or a job: without a function of the status it holds after successes alone. */
export function holds(condition: string | undefined, scope: Scope): boolean {
  const inner = (condition ?? "success()").replace(/^\s*\$\{\{([\s\S]*)\}\}\s*$/, "$1").trim();
  const value = evaluate(inner, scope);
  const isMet = value !== null && value !== "" && value !== false;
  const asks = /\b(always|success|failure|cancelled)\s*\(/.test(inner);
  return isMet && (asks || (!scope.failed && !scope.cancelled));
}

/** A text with the values of the expressions in it. */
export function filled(text: string, scope: Scope): string {
  return text.replaceAll(/\$\{\{([\s\S]*?)\}\}/g, (_, inner: string) =>
    String(evaluate(inner.trim(), scope) ?? ""),
  );
}
