/** @module Lists every resource that a manifest declares, with `forEach` carried out. */
import { type Address, formatAddress } from "../model/address.ts";
import { defined, isObject, type Json, type JsonObject, merge } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import { isTemplate, type Sealed, type Template } from "../model/sealed.ts";
import { describe, type Fault, type Report } from "./problems/fault.ts";
import { resolveValue, type Scope } from "./resolve-value.ts";
import { type Iteration, scopeOf } from "./scope.ts";
import type { Path } from "./source.ts";
import { mapOf } from "./values.ts";
import type { Variables } from "./variables.ts";

/** One block of the manifest: a resource, or several if it has a `forEach`. */
export interface Block {
  readonly kind: Kind;
  readonly name: string;
  /** As written, over the section's defaults, without `forEach` and `enabled`. */
  readonly body: JsonObject;
  /** As written; left out: true. */
  readonly enabled: Json;
  /** `unknown` after a reported fault; references into the block are then accepted. */
  readonly iterations: readonly Iteration[] | "single" | "unknown";
  readonly keys: readonly string[];
}

export interface Member {
  readonly address: Address;
  readonly block: Block;
  readonly each?: Iteration;
}

export interface Inventory {
  /** `section.name` -> block. */
  readonly blocks: ReadonlyMap<string, Block>;
  /** Section -> names of its blocks. */
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly members: ReadonlyMap<Address, Member>;
  readonly leftOut: ReadonlyMap<Address, Member>;
}

/** Merges defaults into each block and carries out every `forEach`. Other values are not resolved yet. */
export function buildInventory(
  manifest: JsonObject,
  kinds: readonly Kind[],
  variables: Variables,
  report: Report,
): Inventory {
  const blocks = new Map<string, Block>();
  const members = new Map<Address, Member>();
  const leftOut = new Map<Address, Member>();
  const sections = kinds.map(({ name }) => name);
  const inputs: BlockInputs = { sections, variables, report };
  const written = kinds.map((kind) => ({ kind, section: mapOf(manifest[kind.name]) }));
  for (const { kind, section } of written) {
    const defaults = mapOf(mapOf(manifest["defaults"])[kind.name]);
    for (const [name, body] of Object.entries(section)) {
      const block = blockOf(kind, name, body, defaults, inputs);
      blocks.set(`${kind.name}.${name}`, block);
      const { iterations } = block;
      const each = iterations === "single" ? [undefined] : iterations === "unknown" ? [] : iterations;
      for (const one of each) {
        const own = one === undefined ? {} : { key: one.key };
        const address = formatAddress({ section: kind.name, name, ...own });
        const member = one === undefined ? { address, block } : { address, block, each: one };
        (isEnabled(member, inputs) ? members : leftOut).set(address, member);
      }
    }
  }
  const names = new Map(written.map(({ kind, section }) => [kind.name, Object.keys(section)]));
  return { blocks, names, members, leftOut };
}

interface BlockInputs {
  readonly sections: readonly string[];
  readonly variables: Variables;
  readonly report: Report;
}

function blockOf(kind: Kind, name: string, written: Json, defaults: JsonObject, inputs: BlockInputs): Block {
  if (!isObject(written) || isTemplate(written))
    return { kind, name, body: {}, enabled: true, iterations: "unknown", keys: [] };
  const merged = Object.keys(defaults).length === 0 ? written : merge(defaults, written);
  const { forEach, enabled = true, ...body } = merged;
  const block = { kind, name, body, enabled };
  if (forEach === undefined) return { ...block, iterations: "single", keys: [] };
  const base = [kind.name, name];
  const resolved = resolveValue(forEach, scopeBefore(inputs, base), ["forEach"]);
  const report: ReportIn = (path, fault) => inputs.report.error([...base, "forEach", ...path], fault);
  const iterations = iterationsOf(resolved, report);
  return { ...block, iterations: iterations ?? "unknown", keys: iterations?.map(({ key }) => key) ?? [] };
}

/** False for a member that is left out. A value of the wrong type is reported, and leaves nothing out. */
function isEnabled({ block, each }: Member, inputs: BlockInputs): boolean {
  const { kind, name, enabled } = block;
  if (typeof enabled === "boolean") return enabled;
  const base = [kind.name, name];
  const value = resolveValue(enabled, scopeBefore(inputs, base, each), ["enabled"]);
  if (typeof value === "boolean" || isTemplate(value)) return value !== false;
  inputs.report.error([...base, "enabled"], {
    code: "wrong-type",
    message: `enabled must be true or false, and is ${describe(value)}`,
    hint: "write true or false without quotes, or a variable of type: boolean",
  });
  return true;
}

function scopeBefore({ variables, sections, report }: BlockInputs, base: Path, each?: Iteration): Scope {
  const hint = "the addresses must be known before anything is read: use a variable, or write the keys out";
  const fault = (code: string, message: string): Fault => ({ code, message, hint });
  return scopeOf({
    variables,
    ...defined({ each }),
    sections,
    refusesSecret: ({ text }) => fault("secret-in-clear", `${text} would become part of an address`),
    reference: ({ text }) => fault("bad-reference", `${text} is known only after an apply`),
    report: (expression, path, fault) => report.error([...base, ...path], fault, "value", expression),
  });
}

type ReportIn = (path: Path, fault: Fault) => void;

/** A list of texts or a map gives one iteration for each entry. Returns undefined if a fault was reported. */
function iterationsOf(forEach: Json | Sealed | Template, report: ReportIn): readonly Iteration[] | undefined {
  if (isTemplate(forEach)) return undefined;
  if (Array.isArray(forEach)) return listIterations(forEach, report);
  if (isObject(forEach)) return Object.entries(forEach).map(([key, value]) => ({ key, value }));
  const hint = "write a list, [a, b], or a map, { a: ..., b: ... }";
  const message = `forEach must be a list or a map, and is ${describe(forEach)}`;
  report([], { code: "wrong-type", message, hint });
  return undefined;
}

function listIterations(list: readonly Json[], report: ReportIn): readonly Iteration[] | undefined {
  const iterations = new Map<string, Iteration>();
  let failed = false;
  for (const [index, value] of list.entries()) {
    const key = typeof value === "string" || typeof value === "number" ? String(value) : undefined;
    if (isTemplate(value)) failed = true;
    else if (key === undefined) {
      const hint = "a list holds texts; to give each one more than a key, write a map";
      const message = `forEach[${index}] must be text, and is ${describe(value)}`;
      report([index], { code: "wrong-type", message, hint });
      failed = true;
    } else if (iterations.has(key)) {
      const hint = "remove one of the two: each makes one resource";
      const message = `forEach names ${JSON.stringify(key)} twice`;
      report([index], { code: "duplicate-key", message, hint });
    } else iterations.set(key, { key, value });
  }
  return failed ? undefined : [...iterations.values()];
}
