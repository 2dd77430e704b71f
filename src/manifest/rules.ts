/** @module Runs the rules beyond the schemas: those of the kinds, cycles of references, unused defaults. */
import type { Desired } from "../model/desired.ts";
import { isObject, type JsonObject } from "../model/json.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import type { Profile } from "../model/service.ts";
import { mayHoldExpression } from "./expression.ts";
import { rangeAt } from "./locate.ts";
import { type Explained, explainViolations } from "./problems/explain-violation.ts";
import { errorAt, suggest } from "./problems/fault.ts";
import type { ResolveContext } from "./resolve-resource.ts";
import { resourceShape } from "./schema/shape.ts";
import { mapOf, mapTexts, unresolved } from "./values.ts";

/** Adds the findings of the rules to those found before, and drops findings about a value that a rule refuses. */
export function runRules(
  all: readonly Desired[],
  found: readonly Finding[],
  context: ResolveContext,
  profile: Profile,
): readonly Finding[] {
  const rulesContext = ruleContext(all, context, profile);
  const rules = all.flatMap(
    (desired) => context.kinds.find(desired.kind)?.check(desired, rulesContext) ?? [],
  );
  const refused = new Set(rules.filter(({ severity }) => severity === "error").map(rangeKey));
  return [...found.filter((finding) => !refused.has(rangeKey(finding))), ...rules];
}

function ruleContext(all: readonly Desired[], context: ResolveContext, profile: Profile): RuleContext {
  const { parsed, secrets, inventory } = context;
  return {
    ...{ profile, all, suggest, open: secrets.open },
    at: ({ address, where }, path) => {
      const member = inventory.members.get(address);
      if (member === undefined) return where();
      const [keys, part] = path === "" ? [[], "key" as const] : [path.split("."), "value" as const];
      return rangeAt(parsed.layers, keys, part, undefined, member.block);
    },
  };
}

function rangeKey({ range, address }: Finding): string {
  return `${range.file}:${range.start.line}:${range.start.column} ${address ?? ""}`;
}

/** Returns one finding for each dependency cycle; it names every member in the order of their references. */
export function findCycles(desired: readonly Desired[]): readonly Finding[] {
  return cyclesIn(desired).map(([first, ...others]) => {
    const names = [first, ...others].map(({ address }) => address);
    const message =
      others.length === 0
        ? `${first.address} needs itself`
        : `these need each other: ${[...names, first.address].join(" -> ")}`;
    const hint = "remove one of these references, or the dependsOn that makes it";
    return errorAt(first.where(), { code: "cycle", message, hint }, first.address);
  });
}

type Referring = Pick<Desired, "address" | "refs">;

/** Cycles that share no member. Follows each reference once, without recursion: a chain may be as long as the manifest. */
export function cyclesIn<Entry extends Referring>(
  desired: readonly Entry[],
): readonly (readonly [Entry, ...Entry[]])[] {
  const byAddress = new Map(desired.map((resource) => [resource.address, resource]));
  /** Position in `path`; -1 for a resource whose references were all followed. */
  const positions = new Map<Entry, number>();
  const path: { readonly resource: Entry; next: number }[] = [];
  const enter = (resource: Entry): void => {
    positions.set(resource, path.length);
    path.push({ resource, next: 0 });
  };
  const members = new Set<Entry>();
  const found: [Entry, ...Entry[]][] = [];
  const close = (target: Entry, position: number): void => {
    const others = path.slice(position + 1).map((step) => step.resource);
    if (others.some((other) => members.has(other))) return;
    found.push([target, ...others]);
    for (const member of [target, ...others]) members.add(member);
  };
  for (const root of desired) {
    if (!positions.has(root)) enter(root);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const { resource } = last;
      const address = resource.refs[last.next++];
      const target = byAddress.get(address ?? "");
      const position = target === undefined ? -1 : positions.get(target);
      if (target !== undefined && position === undefined) enter(target);
      else if (target !== undefined && position !== undefined && position >= 0 && !members.has(target))
        close(target, position);
      if (address !== undefined) continue;
      path.pop();
      positions.set(resource, -1);
    }
  }
  return found;
}

/** The faults of defaults that no resource uses; others are checked with each resource. No reference is filled in, and no key required. */
export function unusedDefaultsFaults(manifest: JsonObject, context: ResolveContext): readonly Explained[] {
  const defaults = mapOf(manifest["defaults"]);
  const used = new Set([...context.inventory.blocks.values()].map(({ kind }) => kind.name));
  return context.kinds.all.flatMap(({ name, schema }) => {
    const written = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
    if (used.has(name) || !isObject(written)) return [];
    const known = mapTexts(written, (text) => (mayHoldExpression(text) ? unresolved : text));
    const violations = context.validators.resources[name]?.(known) ?? [];
    const own = violations.filter(({ keyword }) => keyword !== "required");
    return explainViolations(own, known, resourceShape(schema)).map((explained) => ({
      ...explained,
      path: ["defaults", name, ...explained.path],
    }));
  });
}
