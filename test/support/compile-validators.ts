import { documentKey, manifestAjv, resourceKey, type SchemaKind } from "../../scripts/compile-validators.ts";
import { type CompiledSchema, violationsOf } from "../../scripts/violations-of.ts";
import type { Validators } from "../../src/manifest/source.ts";

/** Compiles the validators of some kinds in place, for tests with kinds of their own. */
export function compileValidators(kinds: readonly SchemaKind[]): Validators {
  const ajv = manifestAjv(kinds);
  const compiled = (key: string): CompiledSchema => {
    const schema = ajv.getSchema(key);
    if (schema === undefined) throw new Error(`no schema is called ${key}`);
    return schema;
  };
  return {
    document: violationsOf(compiled(documentKey)),
    resources: Object.fromEntries(kinds.map(({ name }) => [name, violationsOf(compiled(resourceKey(name)))])),
  };
}
