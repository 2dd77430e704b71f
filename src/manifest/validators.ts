/** @module Defines the compiled schema validators that a manifest is checked with. */
/** One violation of a JSON Schema. */
export interface Violation {
  /** JSON pointer into the value. */
  readonly path: string;
  readonly keyword: string;
  /** The keyword's parameters, as Ajv names them. */
  readonly params: { readonly [name: string]: unknown };
  /** The key, where the key itself is invalid. */
  readonly propertyName?: string;
}

/** Returns all violations of a value; none where it is valid. */
export type Validate = (value: unknown) => readonly Violation[];

/**
 * The compiled schemas, handed in by the composition root: `scripts/emit.ts` compiles them when the package is
 * built, tests of the stage compile those of their own kinds.
 */
export interface Validators {
  /** `documentShape`: the manifest without the fields of its resources. */
  readonly document: Validate;
  /** `resourceShape` of each kind, by section. */
  readonly resources: { readonly [section: string]: Validate };
}
