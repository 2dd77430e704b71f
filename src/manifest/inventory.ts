/** @module Lists every resource that a manifest declares, with `forEach` carried out. */
import { type Address, formatAddress } from "../model/address.ts";
import { defined, isObject, type Json, type JsonObject } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import { isTemplate, type Sealed, type Template } from "../model/sealed.ts";
import type { Expression } from "./expression.ts";
import { merge } from "./merge.ts";
import { describe } from "./problems/describe.ts";
import type { Fault } from "./problems/finding.ts";
import { resolveValue } from "./resolve-value.ts";
import { type Iteration, scopeOf } from "./scope.ts";
import type { Path } from "./source.ts";
import { mapOf } from "./unresolved.ts";
import type { Variables } from "./variables.ts";

/** One block of the manifest: a resource, or several where it has a `forEach`. */
export interface Block {
  readonly kind: Kind;
  readonly name: string;
  /** As written, over the section's defaults, without `forEach` and `enabled`. */
  readonly body: JsonObject;
  /** As written; left out: true. */
  readonly enabled: Json;
  /** `unknown` after a reported fault; references into the block are then accepted. */
  readonly iterations: readonly Iteration[] | "single" | "unknown";
}

/** One resource of a block. */
export interface Member {
  readonly address: Address;
  readonly block: Block;
  readonly each?: Iteration;
}

/** All blocks and resources of a manifest. */
export interface Inventory {
  /** `section.name` -> block. */
  readonly blocks: ReadonlyMap<string, Block>;
  readonly members: ReadonlyMap<Address, Member>;
  /** Those whose `enabled` is false. */
  readonly leftOut: ReadonlyMap<Address, Member>;
}

/** Reports a fault at a path of the manifest. */
export type ReportAt = (path: Path, fault: Fault, expression?: Expression) => void;

/** Merges defaults into each block and carries out every `forEach`. Other values are not resolved yet. */
export function buildInventory(
  manifest: JsonObject,
  kinds: readonly Kind[],
  variables: Variables,
  report: ReportAt,
): Inventory {
  const blocks = new Map<string, Block>();
  const members = new Map<Address, Member>();
  const leftOut = new Map<Address, Member>();
  const inputs: BlockInputs = { kinds, variables, report };
  for (const kind of kinds) {
    for (const [name, written] of Object.entries(mapAt(manifest, kind.name))) {
      const defaults = mapAt(manifest["defaults"], kind.name);
      const block: Block =
        isObject(written) && !isTemplate(written)
          ? blockOf(kind, name, written, defaults, inputs)
          : { kind, name, body: {}, enabled: true, iterations: "unknown" };
      blocks.set(`${kind.name}.${name}`, block);
      for (const member of membersOf(block))
        (isEnabled(member, inputs) ? members : leftOut).set(member.address, member);
    }
  }
  return { blocks, members, leftOut };
}

interface BlockInputs {
  readonly kinds: readonly Kind[];
  readonly variables: Variables;
  readonly report: ReportAt;
}

function blockOf(
  kind: Kind,
  name: string,
  written: JsonObject,
  defaults: JsonObject,
  inputs: BlockInputs,
): Block {
  const merged = Object.keys(defaults).length === 0 ? written : merge(defaults, written);
  const { forEach, enabled = true, ...body } = merged;
  if (forEach === undefined) return { kind, name, body, enabled, iterations: "single" };
  const base = [kind.name, name];
  const resolved = resolveValue(forEach, scopeBefore(inputs, base), ["forEach"]);
  const iterations = iterationsOf(resolved, (path, fault) => inputs.report([...base, ...path], fault));
  return { kind, name, body, enabled, iterations: iterations ?? "unknown" };
}

/** False for a member that is left out. A value of the wrong type is reported, and leaves nothing out. */
function isEnabled({ block, each }: Member, inputs: BlockInputs): boolean {
  const { kind, name, enabled } = block;
  if (typeof enabled === "boolean") return enabled;
  const base = [kind.name, name];
  const value = resolveValue(enabled, scopeBefore(inputs, base, each), ["enabled"]);
  if (typeof value === "boolean" || isTemplate(value)) return value !== false;
  inputs.report([...base, "enabled"], {
    code: "wrong-type",
    message: `enabled must be true or false, and is ${describe(value)}`,
    hint: "write true or false without quotes, or a variable of type: boolean",
  });
  return true;
}

/** The scope of what decides which resources there are. */
function scopeBefore(inputs: BlockInputs, base: Path, each?: Iteration): ReturnType<typeof scopeOf> {
  const hint = "the addresses must be known before anything is read: use a variable, or write the keys out";
  return scopeOf({
    variables: inputs.variables,
    ...defined({ each }),
    sections: inputs.kinds.map((kind) => kind.name),
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
    report: (expression, path, fault) => inputs.report([...base, ...path], fault, expression),
  });
}

function* membersOf(block: Block): Iterable<Member> {
  const { kind, name, iterations } = block;
  if (iterations === "unknown") return;
  if (iterations === "single") yield { address: formatAddress({ section: kind.name, name }), block };
  else
    for (const each of iterations)
      yield { address: formatAddress({ section: kind.name, name, key: each.key }), block, each };
}

function mapAt(value: Json | undefined, key: string): JsonObject {
  const map = mapOf(value);
  return mapOf(Object.hasOwn(map, key) ? map[key] : undefined);
}

/** A list of texts or a map gives one iteration for each entry. Returns undefined where a fault was reported. */
function iterationsOf(
  forEach: Json | Sealed | Template,
  report: (path: Path, fault: Fault) => void,
): readonly Iteration[] | undefined {
  if (isTemplate(forEach)) return undefined;
  if (Array.isArray(forEach)) return listIterations(forEach, report);
  if (isObject(forEach)) return Object.entries(forEach).map(([key, value]) => ({ key, value }));
  const hint = "write a list, [a, b], or a map, { a: ..., b: ... }";
  report(["forEach"], {
    code: "wrong-type",
    message: `forEach must be a list or a map, and is ${describe(forEach)}`,
    hint,
  });
  return undefined;
}

function listIterations(
  list: readonly Json[],
  report: (path: Path, fault: Fault) => void,
): readonly Iteration[] | undefined {
  const iterations: Iteration[] = [];
  const seen = new Set<string>();
  let failed = false;
  for (const [index, value] of list.entries()) {
    const key = typeof value === "string" || typeof value === "number" ? String(value) : undefined;
    if (isTemplate(value)) failed = true;
    else if (key === undefined) {
      const hint = "a list holds texts; to give each one more than a key, write a map";
      report(["forEach", index], {
        code: "wrong-type",
        message: `forEach[${index}] must be text, and is ${describe(value)}`,
        hint,
      });
      failed = true;
    } else if (seen.has(key)) {
      const hint = "remove one of the two: each makes one resource";
      report(["forEach", index], {
        code: "duplicate-key",
        message: `forEach names ${JSON.stringify(key)} twice`,
        hint,
      });
    } else {
      seen.add(key);
      iterations.push({ key, value });
    }
  }
  return failed ? undefined : iterations;
}
