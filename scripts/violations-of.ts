import type { Validate } from "../src/manifest/source.ts";
import type { SchemaError } from "../src/model/violation.ts";

/** What Ajv compiles a schema into, as far as it is used. */
export interface CompiledSchema {
  (value: unknown): unknown;
  errors?: readonly SchemaError[] | null | undefined;
}

/** A compiled schema as the manifest stage takes it. */
export function violationsOf(compiled: CompiledSchema): Validate {
  return (value) => (compiled(value) === true ? [] : (compiled.errors ?? []));
}
