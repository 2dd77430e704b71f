/** @module Words the violations of a document that a compiled JSON Schema has found. */
/** One violation of a JSON Schema, as Ajv reports it. */
export interface SchemaError {
  /** JSON pointer into the value. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: { readonly [name: string]: unknown };
  /** The key, if the key itself is invalid. */
  readonly propertyName?: string;
}

/** A compiled schema: true if a value conforms to it. */
export interface Conforms<Value> {
  (value: unknown): value is Value;
  /** The first violation of the value that was checked last. */
  errors?: readonly SchemaError[] | null;
}

/** The JSON pointer of the value that a violation is about. */
export function pointerOf({ instancePath }: SchemaError): string {
  return instancePath;
}

/** The path that a violation is about. A key that is missing, or not known, is its last step. */
export function violatedPath({ instancePath, params }: SchemaError): readonly string[] {
  const steps = instancePath.split("/").slice(1);
  const key = params["property"] ?? params["missingProperty"] ?? params["additionalProperty"] ?? [];
  return [
    ...steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~")),
    ...[key].flat().map(String),
  ];
}

/** A violation of a value in words: `resources["instances.a"].refs[0] is not a string`. */
export function violationText(error: SchemaError, value: unknown): string {
  const path = spelled(violatedPath(error), value);
  const { keyword, params } = error;
  switch (keyword) {
    case "const":
      return `${path} is not ${JSON.stringify(params["allowedValue"])}`;
    case "enum":
      return `${path} is none of ${[params["allowedValues"]].flat().join(", ")}`;
    case "type":
      return `${path} is not ${/^[aeio]/.test(String(params["type"])) ? "an" : "a"} ${String(params["type"])}`;
    case "minimum":
      return `${path} is below ${String(params["limit"])}`;
    case "minLength":
      return `${path} is empty`;
    case "pattern":
      return `${path} does not match ${String(params["pattern"])}`;
    case "required":
      return `${path} is missing`;
    case "additionalProperties":
      return `${path} is unknown`;
    case "dependencies":
      return `${path} needs ${String(params["missingProperty"])}`;
    default:
      return `${path} breaks the rule "${keyword}"`;
  }
}

/** A path as people write it; `value` tells positions in lists from keys. */
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
