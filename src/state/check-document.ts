/** @module Describes the first thing that is wrong with a document read from a file: its end is missing, or it violates a compiled schema. */

/** One violation of a JSON Schema, as Ajv reports it. */
export interface SchemaError {
  /** JSON pointer into the value. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: { readonly [name: string]: unknown };
}

/** A compiled schema: true if a value conforms to it. */
export interface Conforms {
  (value: unknown): boolean;
  /** The first violation of the value that was checked last. */
  errors?: readonly SchemaError[] | null;
}

/** The first way in which a value read from a file does not conform to a schema, or undefined. */
export function firstViolation(conforms: Conforms, value: unknown): string | undefined {
  if (conforms(value)) return undefined;
  const [error] = conforms.errors ?? [];
  return error === undefined ? "the document is malformed" : wordsOf(error, value);
}

function wordsOf({ instancePath, keyword, params }: SchemaError, value: unknown): string {
  const steps = instancePath.split("/").slice(1).map(stepOf);
  const at = spelled(steps, value);
  switch (keyword) {
    case "const":
      return `${at} is not ${JSON.stringify(params["allowedValue"])}`;
    case "enum":
      return `${at} is none of ${[params["allowedValues"]].flat().join(", ")}`;
    case "type":
      return `${at} is not ${withArticle(String(params["type"]))}`;
    case "minimum":
      return `${at} is below ${String(params["limit"])}`;
    case "minLength":
      return `${at} is empty`;
    case "required":
      return `${spelled([...steps, String(params["missingProperty"])], value)} is missing`;
    case "additionalProperties":
      return `${spelled([...steps, String(params["additionalProperty"])], value)} is unknown`;
    default:
      return `${at} is malformed`;
  }
}

function withArticle(type: string): string {
  return `${/^[aeio]/.test(type) ? "an" : "a"} ${type}`;
}

function stepOf(text: string): string {
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** A place as people write it: `resources["instances.a"].refs[0]`. */
function spelled(steps: readonly string[], value: unknown): string {
  let holder = value;
  const words = steps.map((step, at) => {
    const isIndex = Array.isArray(holder);
    holder = typeof holder === "object" && holder !== null ? Reflect.get(holder, step) : undefined;
    if (isIndex) return `[${step}]`;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(step)) return `[${JSON.stringify(step)}]`;
    return at === 0 ? step : `.${step}`;
  });
  return words.length === 0 ? "the document" : words.join("");
}

/**
 * True for a text that does not parse because its end is missing: it is empty or nothing but zeros (what a power
 * failure leaves), or a JSON object that is never closed.
 */
export function isCutShort(text: string): boolean {
  const whole = text.replaceAll("\0", "").trim();
  return whole === "" || (whole.startsWith("{") && leftOpen(whole));
}

/** True if a text ends within a string or has more opening than closing brackets outside of strings. */
function leftOpen(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (quoted && char === "\\") at += 1;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && (char === "{" || char === "[")) depth += 1;
    else if (!quoted && (char === "}" || char === "]")) depth -= 1;
  }
  return quoted || depth > 0;
}
