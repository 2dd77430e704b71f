/** @module Plans what a replacement that keeps the data needs: a second object beside the first, and what lives inside of it. */

import { type Address, twinOf } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { fieldRows, parameterOf } from "../model/field-schema.ts";
import type { Change, Step } from "../model/plan.ts";
import { hostsIn } from "../model/templates.ts";
import type { PlanInput } from "./input.ts";
import { whyHookRuns } from "./migration-words.ts";
import { propose } from "./propose.ts";
import { existing } from "./step.ts";
import { type Subject, subjectsOf } from "./subjects.ts";

/** Adds a twin of each database whose data moves, and of everything inside it. Twins are made, changed and removed as any resource. */
export function withSuccessors(input: PlanInput): PlanInput {
  const wanted = input.desired.filter(({ lifecycle }) => lifecycle.onReplace === "migrate");
  if (wanted.length === 0 || input.destroying) return input;
  const { chosen } = subjectsOf(input);
  const migrations = { ...input.state.migrations };
  const migrating = new Map<Address, readonly Address[]>();
  const twins = wanted.flatMap((desired): readonly Desired[] => {
    const subject = chosen.get(desired.address);
    if (subject?.bound === undefined || subject.observed === undefined || subject.doubt !== undefined)
      return [];
    const isAsked = input.options.replace.includes(desired.address);
    if (!isReplaced(subject, input) || isAsked) return [];
    const inside = input.desired.filter((entry) =>
      hostsIn(input.kinds.named(entry.kind).schema, entry.spec).some(
        ({ address }) => address === desired.address,
      ),
    );
    migrating.set(
      desired.address,
      inside.map(({ address }) => address),
    );
    const twin = successor(desired);
    const [known, migration] = [chosen.get(twin.address), migrations[desired.address]];
    // A new database that is replaced itself was not rehearsed with.
    if (migration && known?.observed && isReplaced({ ...known, desired: twin }, input)) {
      const { rehearsed: _, ...unrehearsed } = migration;
      migrations[desired.address] = unrehearsed;
    }
    return [twin, ...inside.map((entry) => childOf(entry, desired.address, input))];
  });
  return {
    ...input,
    state: { ...input.state, migrations },
    desired: [...input.desired, ...twins],
    migrating,
  };
}

function isReplaced(subject: Subject, input: PlanInput): boolean {
  const { action, forcedBy } = propose(subject, input, new Set());
  return action === "replace" && forcedBy !== undefined;
}

/** The object that takes over. Until the switch it holds only a copy, so nothing protects it. */
function successor(desired: Desired): Desired {
  const { importId: _other, ...rest } = desired;
  const { migration: _rules, ...lifecycle } = desired.lifecycle;
  const unguarded = { ...lifecycle, protect: false, onReplace: "recreate", onDelete: "delete" } as const;
  const address = twinOf(desired.address, "next");
  return { ...rest, address, refs: [...desired.refs, desired.address], lifecycle: unguarded };
}

/** The same resource inside of the object that takes over. */
function childOf(desired: Desired, parent: Address, input: PlanInput): Desired {
  const next = twinOf(parent, "next");
  const hosts = hostsIn(input.kinds.named(desired.kind).schema, desired.spec);
  const fields = hosts.filter(({ address }) => address === parent);
  const names = fields.map(({ path, section }) => [path, next.slice(section.length + 1)]);
  return {
    ...successor(desired),
    spec: { ...desired.spec, ...Object.fromEntries(names) },
    refs: [...desired.refs, next],
  };
}

const noRules = { windows: [], hold: 0 };

/** The steps that move the data: the check before anything is made, and the cutover after everything was made. */
export function migrationSteps(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  const { address, kind } = change;
  const inside = input.migrating?.get(address) ?? [];
  const rows = fieldRows(input.kinds.named(kind).schema);
  const declared = Object.keys(change.after ?? {});
  const parameters = declared.flatMap((path) => {
    const row = rows.get(path);
    return (row === undefined ? undefined : parameterOf(row)) ?? [];
  });
  const rules = subject.desired?.lifecycle.migration ?? noRules;
  const cutover = input.options.cutover?.includes(address) === true;
  const outputs = Object.fromEntries(
    Object.entries(input.outputs).map(([name, { value, sensitive }]) => [name, { value, sensitive }]),
  );
  const part = (verb: string, refs: readonly Address[]): Step => ({
    ...existing(`${address}#${verb}`, "migrate", change, subject, input),
    verb,
    refs,
    migration: { ...rules, cutover, inside, parameters, outputs },
  });
  const twins = [address, ...inside].map((each) => twinOf(each, "next"));
  return [part("preflight", []), part("cutover", [...twins, ...inside])];
}

/** The step that runs a hook again if it failed or was not reached, or leaves out one that is not declared any more. */
export function hookSteps(change: Change, subject: Subject, input: PlanInput): readonly Step[] {
  if (whyHookRuns(subject, input) === undefined) return [];
  const rules = subject.desired?.lifecycle.migration ?? noRules;
  const step = existing(`${change.address}#hook`, "migrate", change, subject, input);
  const migration = { ...rules, cutover: false, inside: [], parameters: [] };
  return [{ ...step, verb: "hook", migration }];
}
