/** @module Runs the rules that the kinds have beyond their schemas. */
import type { Desired } from "../model/desired.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import type { Profile } from "../model/profile.ts";
import type { Open } from "../model/sealed.ts";
import { blockRange } from "./block-range.ts";
import { suggest } from "./problems/nearest.ts";
import type { ResolveContext } from "./resolve-resource.ts";

/** The context of a rule, with the texts of the secrets that were read, and hints. */
export interface RuleTools extends RuleContext {
  readonly open: Open;
  readonly suggest: (word: string, candidates: readonly string[], what?: string) => string;
}

/**
 * Adds the findings of the rules to those found before. Where a rule refuses a field, earlier findings about its value are
 * dropped.
 */
export function runRules(
  all: readonly Desired[],
  found: readonly Finding[],
  context: ResolveContext,
  profile: Profile,
): readonly Finding[] {
  const rules = ruleFindings(all, context, profile);
  const refused = new Set(rules.filter(({ severity }) => severity === "error").map(rangeKey));
  return [...found.filter((finding) => !refused.has(rangeKey(finding))), ...rules];
}

function ruleFindings(
  all: readonly Desired[],
  context: ResolveContext,
  profile: Profile,
): readonly Finding[] {
  const { layers } = context.parsed;
  const tools: RuleTools = {
    profile,
    all,
    suggest,
    open: context.secrets.open,
    at: (desired, path) => {
      const member = context.inventory.members.get(desired.address);
      if (member === undefined) return desired.where;
      return path === ""
        ? blockRange(layers, member.block, [], "key")
        : blockRange(layers, member.block, path.split("."), "value");
    },
  };
  return all.flatMap((desired) => context.kinds.find(desired.kind)?.check(desired, tools) ?? []);
}

function rangeKey({ range, address }: Finding): string {
  return `${range.file}:${range.start.line}:${range.start.column} ${address ?? ""}`;
}
