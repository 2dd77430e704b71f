/** @module Defines a compiled schema, as Ajv makes it. */
/** One violation of a JSON Schema, as Ajv reports it. */
export interface SchemaError {
  /** JSON pointer into the value. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: { readonly [name: string]: unknown };
}

/** A compiled schema: true where a value conforms to it. */
export interface Conforms {
  (value: unknown): boolean;
  /** The first violation of the value that was checked last. */
  errors?: readonly SchemaError[] | null;
}
