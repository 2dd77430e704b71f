/** One thing that a JSON Schema validator found. */
export interface Violation {
  /** JSON pointer into the value. */
  readonly path: string;
  readonly keyword: string;
  /** The keyword's parameters, as Ajv names them. */
  readonly params: { readonly [name: string]: unknown };
  /** The key, where it is a key that is wrong. */
  readonly propertyName?: string;
}

/** Everything that is wrong with a value; nothing where it is right. */
export type Validate = (value: unknown) => readonly Violation[];

/**
 * The compiled schemas, handed in by the composition root: `scripts/emit.ts` compiles them when the package is
 * built, tests of the stage compile those of their own kinds.
 */
export interface Validators {
  /** `documentShape`: the manifest but for the fields of its resources. */
  readonly document: Validate;
  /** `resourceShape` of each kind, by section. */
  readonly resources: { readonly [section: string]: Validate };
}
