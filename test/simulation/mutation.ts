/** A safety rule, which is an exported function, and what stands in its place. */
export interface Mutation {
  readonly name: string;
  /** What the engine does not do any more. */
  readonly breaks: string;
  /** The seed of a case that breaks a promise without the rule; the search tries it first. */
  readonly killer: number;
  /** `apply/run.ts#otherBinding`: file below src, and the exported function. */
  readonly rule: string;
  /** Makes the replacement out of the original. */
  readonly instead: (original: never) => unknown;
}

/** Says what stands in the place of a rule; the type of the rule is that of the module's export. */
export function without<Rule>(
  name: string,
  killer: number,
  breaks: string,
  rule: string,
  instead: (original: Rule) => Rule,
): Mutation {
  return { name, killer, breaks, rule, instead };
}
