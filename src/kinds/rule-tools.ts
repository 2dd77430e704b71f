import type { Desired } from "../model/desired.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import type { Open } from "../model/sealed.ts";

/** A rule's context, and what the manifest stage hands in beside it; a rule does without what is absent. */
export interface RuleTools extends RuleContext {
  /** The text behind a sealed secret, where somebody looked. */
  readonly open?: Open;
  /** A hint out of a wrong word and the right ones, the nearest first. */
  readonly suggest?: (word: string, candidates: readonly string[], what?: string) => string;
}

/** What is wrong at a path of the spec, and the way out. */
export interface Said {
  readonly code: string;
  readonly path: string;
  readonly message: string;
  readonly hint: string;
  /** Default "error". */
  readonly severity?: "error" | "warning";
}

/** The findings of what was said about one resource. */
export function findings(desired: Desired, context: RuleTools, said: readonly Said[]): readonly Finding[] {
  return said.map(({ code, path, message, hint, severity = "error" }) => ({
    code,
    severity,
    message,
    hint,
    range: context.at(desired, path),
    address: desired.address,
  }));
}

/** The nearest of the right words, or all of them. */
export function hintFor(
  context: RuleTools,
  word: string,
  candidates: readonly string[],
  what = "allowed",
): string {
  return context.suggest?.(word, candidates, what) ?? `${what}: ${candidates.join(", ")}`;
}

/** The resource at an address. */
export function resourceAt(context: RuleTools, address: string): Desired | undefined {
  let index = indexes.get(context.all);
  if (index === undefined) {
    index = new Map(context.all.map((desired) => [desired.address, desired]));
    indexes.set(context.all, index);
  }
  return index.get(address);
}

/** Made once for all rules of a manifest. */
const indexes = new WeakMap<readonly Desired[], ReadonlyMap<string, Desired>>();
