import type { Desired } from "../model/desired.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import type { Profile } from "../model/profile.ts";
import type { Open } from "../model/sealed.ts";
import { suggest } from "./nearest.ts";
import { placeOf } from "./place.ts";
import type { World } from "./resource.ts";

/** What a kind's rules are handed beside their context: a look into the secrets that were read, and hints. */
export interface RuleTools extends RuleContext {
  readonly open: Open;
  readonly suggest: (word: string, candidates: readonly string[], what?: string) => string;
}

/**
 * Adds what the rules of each resource's kind find to what was found before. A field that a rule refuses
 * altogether needs no second problem about its value.
 */
export function runRules(
  all: readonly Desired[],
  found: readonly Finding[],
  world: World,
  profile: Profile,
): readonly Finding[] {
  const rules = ruleFindings(all, world, profile);
  const refused = new Set(rules.filter(({ severity }) => severity === "error").map(placeKey));
  return [...found.filter((finding) => !refused.has(placeKey(finding))), ...rules];
}

function ruleFindings(all: readonly Desired[], world: World, profile: Profile): readonly Finding[] {
  const kinds = new Map(world.kinds.map((kind) => [kind.name, kind]));
  const { layers } = world.parsed;
  const context: RuleTools = {
    profile,
    all,
    suggest,
    open: world.secrets.open,
    at: (desired, path) => {
      const member = world.inventory.members.get(desired.address);
      if (member === undefined) return desired.where;
      return path === ""
        ? placeOf(layers, member.block, [], "key")
        : placeOf(layers, member.block, path.split("."), "value");
    },
  };
  return all.flatMap((desired) => kinds.get(desired.kind)?.check(desired, context) ?? []);
}

function placeKey({ range, address }: Finding): string {
  return `${range.file}:${range.start.line}:${range.start.column} ${address ?? ""}`;
}
