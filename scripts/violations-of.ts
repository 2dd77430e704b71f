import type { Validate, Violation } from "../src/manifest/source.ts";

/** What Ajv compiles a schema into, as far as it is used. */
export interface CompiledSchema {
  (value: unknown): unknown;
  errors?: readonly AjvError[] | null | undefined;
}

interface AjvError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Violation["params"];
  readonly propertyName?: string;
}

/** A compiled schema as the manifest stage takes it. */
export function violationsOf(compiled: CompiledSchema): Validate {
  return (value) => (compiled(value) === true ? [] : (compiled.errors ?? []).map(violation));
}

function violation({ instancePath, keyword, params, propertyName }: AjvError): Violation {
  const found = { path: instancePath, keyword, params };
  return propertyName === undefined ? found : { ...found, propertyName };
}
