/** @module Runs the rules beyond the schemas: those of the kinds, cycles of references, unused defaults. */

import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import type { Profile } from "../model/profile.ts";
import type { Open } from "../model/sealed.ts";
import { blockRange } from "./block-range.ts";
import { mayHoldExpression } from "./expression.ts";
import { type Explained, explainViolations } from "./problems/explain.ts";
import { errorAt } from "./problems/finding.ts";
import { suggest } from "./problems/nearest.ts";
import type { ResolveContext } from "./resolve-resource.ts";
import { resourceShape } from "./schema/resource-shape.ts";
import { mapOf, unresolved } from "./unresolved.ts";

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

/** Returns one finding for each dependency cycle; it names every member. */
export function findCycles(desired: readonly Desired[]): readonly Finding[] {
  const byAddress = new Map(desired.map((resource) => [resource.address, resource]));
  return cyclesIn(desired, byAddress).flatMap((cycle) => {
    const [first] = cycle;
    if (first === undefined) return [];
    const names = cycle.map(({ address }) => address);
    const needs =
      cycle.length === 1
        ? `${first.address} needs itself`
        : `these need each other: ${[...names, first.address].join(" -> ")}`;
    const hint = "remove one of these references, or the dependsOn that makes it";
    return [errorAt(first.where, { code: "cycle", message: needs, hint }, first.address)];
  });
}

interface Visit {
  readonly resource: Desired;
  readonly order: number;
  lowest: number;
  next: number;
  open: boolean;
}

/** Strongly connected components (Tarjan) with a cycle, without recursion: a chain may be as long as the manifest. */
function cyclesIn(
  desired: readonly Desired[],
  byAddress: ReadonlyMap<Address, Desired>,
): readonly (readonly Desired[])[] {
  const visits = new Map<Address, Visit>();
  const pending: Visit[] = [];
  const found: Desired[][] = [];
  const enter = (resource: Desired, path: Visit[]): void => {
    const visit: Visit = { resource, order: visits.size, lowest: visits.size, next: 0, open: true };
    visits.set(resource.address, visit);
    pending.push(visit);
    path.push(visit);
  };
  for (const root of desired) {
    const path: Visit[] = [];
    if (!visits.has(root.address)) enter(root, path);
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const target = visit.resource.refs[visit.next++];
      if (target === undefined) {
        path.pop();
        const parent = path.at(-1);
        if (parent !== undefined) parent.lowest = Math.min(parent.lowest, visit.lowest);
        if (visit.lowest === visit.order) keepCycle(closeComponent(pending, visit), found);
        continue;
      }
      const resource = byAddress.get(target);
      const seen = visits.get(target);
      if (seen?.open === true) visit.lowest = Math.min(visit.lowest, seen.order);
      else if (seen === undefined && resource !== undefined) enter(resource, path);
    }
  }
  return found;
}

function closeComponent(pending: Visit[], root: Visit): Desired[] {
  const members = pending.splice(pending.lastIndexOf(root));
  for (const member of members) member.open = false;
  return members.map(({ resource }) => resource);
}

function keepCycle(members: Desired[], found: Desired[][]): void {
  const [first] = members;
  if (first !== undefined && (members.length > 1 || first.refs.includes(first.address))) found.push(members);
}

/**
 * Returns the faults of defaults that no resource uses. Other defaults are checked with each resource. References are not
 * filled in here, and no key is required.
 */
export function unusedDefaultsFaults(manifest: JsonObject, context: ResolveContext): readonly Explained[] {
  const defaults = mapOf(manifest["defaults"]);
  const used = new Set([...context.inventory.blocks.values()].map(({ kind }) => kind.name));
  return context.kinds.all.flatMap(({ name, schema }) => {
    const written = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
    if (used.has(name) || !isObject(written)) return [];
    const known = withoutReferences(written);
    const violations = context.validators.resources[name]?.(known) ?? [];
    const own = violations.filter(({ keyword }) => keyword !== "required");
    return explainViolations(own, known, resourceShape(schema)).map((explained) => ({
      ...explained,
      path: ["defaults", name, ...explained.path],
    }));
  });
}

function withoutReferences(value: Json): Json {
  if (typeof value === "string") return mayHoldExpression(value) ? unresolved : value;
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutReferences(inner)]));
}
