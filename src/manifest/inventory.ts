import type { Address } from "../model/address.ts";
import { formatAddress } from "../model/address.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import { isTemplate } from "../model/sealed.ts";
import type { Expression } from "./expression.ts";
import type { Fault } from "./finding.ts";
import { turnsOf } from "./for-each.ts";
import { merge } from "./merge.ts";
import { resolveValue } from "./resolve-value.ts";
import { type Each, scopeOf } from "./scope.ts";
import type { Path } from "./source.ts";
import { mapOf } from "./unresolved.ts";
import type { Variables } from "./variables.ts";

/** One block of the manifest: a resource, or several where it has a `forEach`. */
export interface Block {
  readonly kind: Kind;
  readonly name: string;
  /** As written, over the section's defaults, without `forEach`. */
  readonly body: JsonObject;
  /** `unknown` where it cannot be told, which a problem says; references into it are then let pass. */
  readonly turns: readonly Each[] | "single" | "unknown";
}

/** One resource of a block. */
export interface Member {
  readonly address: Address;
  readonly block: Block;
  readonly each?: Each;
}

/** Everything that the manifest declares, by address. */
export interface Inventory {
  /** `section.name` -> block. */
  readonly blocks: ReadonlyMap<string, Block>;
  readonly members: ReadonlyMap<Address, Member>;
}

export type ReportAt = (path: Path, fault: Fault, expression?: Expression) => void;

/** Lays defaults under each resource and carries out every `forEach`. Values inside are not resolved yet. */
export function takeInventory(
  manifest: JsonObject,
  kinds: readonly Kind[],
  variables: Variables,
  report: ReportAt,
): Inventory {
  const blocks = new Map<string, Block>();
  const members = new Map<Address, Member>();
  for (const kind of kinds) {
    for (const [name, written] of Object.entries(mapAt(manifest, kind.name))) {
      const defaults = mapAt(manifest["defaults"], kind.name);
      const block: Block =
        isObject(written) && !isTemplate(written)
          ? blockOf(kind, name, written, defaults, { kinds, variables, report })
          : { kind, name, body: {}, turns: "unknown" };
      blocks.set(`${kind.name}.${name}`, block);
      for (const member of membersOf(block)) members.set(member.address, member);
    }
  }
  return { blocks, members };
}

interface Means {
  readonly kinds: readonly Kind[];
  readonly variables: Variables;
  readonly report: ReportAt;
}

function blockOf(kind: Kind, name: string, written: JsonObject, defaults: JsonObject, means: Means): Block {
  const body = Object.keys(defaults).length === 0 ? written : merge(defaults, written);
  if (!Object.hasOwn(body, "forEach")) return { kind, name, body, turns: "single" };
  const { forEach = null, ...rest } = body;
  const base = [kind.name, name];
  const resolved = resolveValue(forEach, forEachScope(means, base), ["forEach"]);
  const turns = turnsOf(resolved, (path, fault) => means.report([...base, ...path], fault));
  return { kind, name, body: rest, turns: turns ?? "unknown" };
}

function forEachScope(means: Means, base: Path): ReturnType<typeof scopeOf> {
  const hint = "the addresses must be known before anything is read: use a variable, or write the keys out";
  return scopeOf({
    variables: means.variables,
    sections: means.kinds.map((kind) => kind.name),
    refusesSecret: ({ text }) => ({
      code: "secret-in-clear",
      message: `${text} would become part of an address`,
      hint,
    }),
    reference: ({ text }) => ({
      code: "bad-reference",
      message: `${text} is known only after an apply`,
      hint,
    }),
    report: (expression, path, fault) => means.report([...base, ...path], fault, expression),
  });
}

function* membersOf(block: Block): Iterable<Member> {
  const { kind, name, turns } = block;
  if (turns === "unknown") return;
  if (turns === "single") yield { address: formatAddress({ section: kind.name, name }), block };
  else
    for (const each of turns)
      yield { address: formatAddress({ section: kind.name, name, key: each.key }), block, each };
}

function mapAt(value: Json | undefined, key: string): JsonObject {
  const map = mapOf(value);
  return mapOf(Object.hasOwn(map, key) ? map[key] : undefined);
}
