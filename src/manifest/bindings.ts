/** @module Reads the lists `imports`, `moved` and `removed` of a manifest and reports entries that contradict it. */
import { type Address, formatAddress, parseAddress, undeclaring } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { type Problem, shellWord } from "../model/errors.ts";
import { defined, isObject, type Json, type JsonObject, textIn } from "../model/json.ts";
import type { Import, Manifest, Move, Removal } from "../model/manifest.ts";
import type { Inventory } from "./declared-resources.ts";
import { errorAt, type Report } from "./problems/fault.ts";
import { badAddress, findReferent } from "./referent.ts";
import { cyclesIn } from "./rules.ts";
import type { Path } from "./source.ts";

export type Bindings = Pick<Manifest, "imports" | "moved" | "removed">;

export interface BindingInputs {
  readonly inventory: Inventory;
  readonly sections: readonly string[];
  /** ISO date. */
  readonly today: string;
  readonly report: Report;
}

/** Skips entries of the wrong shape: validation has reported them. */
export function readBindings(
  manifest: JsonObject,
  desired: readonly Desired[],
  inputs: BindingInputs,
): Bindings {
  const imports = entries(manifest, "imports").flatMap(([{ address: written, id }, path]) => {
    const parts = parseAddress(address(written, [...path, "address"], inputs) ?? "");
    if (parts === undefined) return [];
    const found = findReferent(inputs.inventory, parts);
    if ("fault" in found) inputs.report.error([...path, "address"], found.fault);
    if ("fault" in found || typeof id !== "string") return [];
    return [{ address: found.address, id, where: inputs.report.where(path, "entry") }];
  });
  reportSharedIds(imports, desired, inputs);
  return {
    imports,
    moved: readMoves(entries(manifest, "moved"), inputs),
    removed: readRemovals(entries(manifest, "removed"), inputs),
  };
}

/** One object belongs to one address, and one address has one object. */
function reportSharedIds(
  imports: readonly Import[],
  desired: readonly Desired[],
  inputs: BindingInputs,
): void {
  const owners = new Map<string, Address>();
  const bound = new Map<Address, string>();
  const claim = (address: Address, id: string, path: Path): void => {
    const section = parseAddress(address)?.section ?? "";
    const owner = owners.get(`${section} ${id}`);
    const other = bound.get(address);
    if (owner !== undefined && owner !== address) {
      const message = `${address} and ${owner} are both bound to ${JSON.stringify(id)}`;
      const hint = "give each address its own id, or remove one of the two";
      inputs.report.error(path, { code: "shared-id", message, hint });
    } else if (other !== undefined && other !== id) {
      const message = `${address} is bound to ${JSON.stringify(other)} already`;
      const hint = "an address has one object: remove one of the two";
      inputs.report.error(path, { code: "shared-id", message, hint });
    }
    owners.set(`${section} ${id}`, owner ?? address);
    bound.set(address, other ?? id);
  };
  for (const { address, importId } of desired) {
    const parts = importId === undefined ? undefined : parseAddress(address);
    if (importId !== undefined && parts !== undefined)
      claim(address, importId, [parts.section, parts.name, "id"]);
  }
  for (const [index, { address, id }] of imports.entries()) claim(address, id, ["imports", index, "id"]);
}

function readMoves(written: readonly Entry[], inputs: BindingInputs): readonly Move[] {
  const { members } = inputs.inventory;
  const moves = written.flatMap(([entry, path]) => {
    const from = address(entry["from"], [...path, "from"], inputs);
    const to = address(entry["to"], [...path, "to"], inputs);
    const where = inputs.report.where(path, "entry");
    return from === undefined || to === undefined ? [] : [{ move: { from, to, where }, path }];
  });
  const sources = new Set(moves.map(({ move }) => move.from));
  const seen = new Set<string>();
  for (const { move, path } of moves) {
    const { from, to } = move;
    const reportMove = (key: string, message: string, hint: string): void =>
      inputs.report.error([...path, key], { code: "bad-move", message, hint });
    const target = parseAddress(to);
    if (from === to) reportMove("to", `${from} is moved to itself`, "remove the entry");
    else if (parseAddress(from)?.section !== target?.section)
      reportMove("to", `${from} cannot become ${to}: they are not of one kind`, "move within a section");
    else if (members.has(from))
      reportMove(
        "from",
        `${from} is still declared, so it cannot have moved`,
        `${undeclaring(from)}, or remove the entry`,
      );
    else if (seen.has(`from ${from}`))
      reportMove("from", `${from} is moved twice`, "keep one of the entries");
    else if (seen.has(`to ${to}`))
      reportMove("to", `two addresses are moved to ${to}`, "keep one of the entries");
    else if (!sources.has(to) && target !== undefined) {
      const found = findReferent(inputs.inventory, target);
      if ("fault" in found && found.fault.code !== "left-out")
        inputs.report.error([...path, "to"], found.fault);
    }
    seen.add(`from ${from}`).add(`to ${to}`);
  }
  const edges = moves.map(({ move, path }) => ({ address: move.from, refs: [move.to], path }));
  for (const [first, ...others] of cyclesIn(edges)) {
    const names = [first, ...others, first].map((each) => each.address).join(" -> ");
    const [message, hint] = [`these are moved in a circle: ${names}`, "remove one of the entries"];
    for (const { path } of others.length === 0 ? [] : [first, ...others])
      inputs.report.error([...path, "from"], { code: "bad-move", message, hint });
  }
  return moves.map(({ move }) => move);
}

function readRemovals(written: readonly Entry[], inputs: BindingInputs): readonly Removal[] {
  const seen = new Set<Address>();
  return written.flatMap(([entry, path]) => {
    const removals = readRemoval(entry, path, inputs);
    for (const { address: gone } of removals) {
      const [message, hint] = [`${gone} is removed twice`, "keep one of the entries"];
      if (seen.has(gone)) inputs.report.error([...path, "address"], { code: "bad-removal", message, hint });
      seen.add(gone);
    }
    return removals;
  });
}

function readRemoval(entry: JsonObject, path: Path, inputs: BindingInputs): readonly Removal[] {
  const gone = address(entry["address"], [...path, "address"], inputs);
  const { destroy, reason, until } = entry;
  if (gone === undefined || typeof destroy !== "boolean") return [];
  if (inputs.inventory.members.has(gone)) {
    const [message, hint] = [`${gone} is still declared`, `${undeclaring(gone)}, or remove the entry`];
    inputs.report.error([...path, "address"], { code: "bad-removal", message, hint });
  }
  if (typeof until === "string" && until < inputs.today) {
    const message = `the entry for ${gone} was to be removed by ${until}`;
    const hint = "remove the entry, or give it a later date";
    inputs.report.warning([...path, "until"], { code: "overdue-removal", message, hint });
  }
  const notes = defined({ reason: textIn(reason), until: textIn(until) });
  return [{ address: gone, destroy, ...notes, where: inputs.report.where(path, "entry") }];
}

/** The problem of an entry of `removed` that names nothing of a state, while what it was probably to let go would be deleted. */
export function unmatchedRemoval({ address, where }: Removal, meant: string): Problem {
  const message = `removed names ${address}, which this state does not know, and nothing declares ${meant}: that would be deleted`;
  const hint = "name each that is to be let go; if the entry was carried out long ago, remove it";
  return errorAt(where, { code: "bad-removal", message, hint }, address);
}

/** The problem of an entry of `imports` whose address has, or may get, another object. */
export function boundImport({ address, where }: Import, boundTo: string | undefined): Problem {
  const forget = `graphform state rm ${shellWord(address)}`;
  const [message, hint] =
    boundTo === undefined
      ? [
          `${address} has an open create of an earlier run, and its object is bound if there is one`,
          `remove the entry, and apply; or, if that create surely made nothing: ${forget}`,
        ]
      : [`${address} is bound to ${boundTo} already`, `remove the entry, or that binding: ${forget}`];
  return errorAt(where, { code: "shared-id", message, hint }, address);
}

function address(value: Json | undefined, path: Path, inputs: BindingInputs): Address | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const parts = parseAddress(value);
  if (parts !== undefined && inputs.sections.includes(parts.section)) return formatAddress(parts);
  inputs.report.error(path, badAddress(value, inputs.sections));
  return undefined;
}

type Entry = readonly [JsonObject, Path];

function entries(manifest: JsonObject, key: string): readonly Entry[] {
  const list = manifest[key];
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: Json, index): Entry[] => (isObject(entry) ? [[entry, [key, index]]] : []));
}
