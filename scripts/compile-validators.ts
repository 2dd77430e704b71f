import { Ajv } from "ajv";
import { documentShape } from "../src/manifest/schema/document-shape.ts";
import { resourceShape } from "../src/manifest/schema/shape.ts";
import type { Kind } from "../src/model/kind.ts";

export type SchemaKind = Pick<Kind, "name" | "noun" | "schema">;

/** Names under which a manifest's schemas are compiled. */
export const documentKey = "document";
export const resourceKey = (section: string): string => `resource_${section}`;

/** The schemas of a manifest's frame and of each kind's resources, in a strict Ajv that finds every violation. */
export function manifestAjv(kinds: readonly SchemaKind[]): Ajv {
  const ajv = new Ajv({
    strict: true,
    allowUnionTypes: true,
    allErrors: true,
    messages: false,
    code: { source: true, esm: true },
  });
  const schemas = new Map<string, object>(
    kinds.map(({ name, schema }) => [resourceKey(name), resourceShape(schema)]),
  );
  schemas.set(documentKey, documentShape(kinds));
  ajv.addVocabulary([...new Set([...schemas.values()].flatMap(ownWords))]);
  for (const [key, schema] of schemas) ajv.addSchema(schema, key);
  return ajv;
}

/** Our own annotations (`x-...`) in a schema. */
function ownWords(schema: object): readonly string[] {
  return Object.entries(schema).flatMap(([key, value]) => [
    ...(key.startsWith("x-") ? [key] : []),
    ...(typeof value === "object" && value !== null ? ownWords(value) : []),
  ]);
}
