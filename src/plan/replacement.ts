/** @module Plans a replacement that keeps the data, and guards against one that loses it. */
import { type Address, twinOf } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { shellWord } from "../model/errors.ts";
import { fieldRows, type KindSchema, parameterOf } from "../model/field-schema.ts";
import { defined, mapped } from "../model/json.ts";
import type { Change, Guard, Step } from "../model/plan.ts";
import { hostsIn, referenceFields } from "../model/templates.ts";
import { destroys, remedyForOnDelete } from "./guards/protection.ts";
import { isReopened, whyHookRuns } from "./migration-words.ts";
import { afterMoves } from "./moves.ts";
import { asObserved } from "./outputs.ts";
import { propose } from "./propose.ts";
import { type PlanInput, type Subject, subjectsOf } from "./subjects.ts";

/** Adds a twin of each database whose data moves, and of everything inside it. Twins are made, changed and removed as any resource. */
export function withTwins(input: PlanInput): PlanInput {
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
    const twin = nextTwin(desired);
    const [known, migration] = [chosen.get(twin.address), migrations[desired.address]];
    // A new database that is replaced itself was not rehearsed with.
    if (migration && known?.observed && isReplaced({ ...known, desired: twin }, input)) {
      const { rehearsed: _, ...unrehearsed } = migration;
      migrations[desired.address] = unrehearsed;
    }
    return [twin, ...inside.map((entry) => childOf(entry, desired.address, input))];
  });
  // Apply sets no password of a database whose data moves.
  const notProbed = input.notProbed?.map((one) =>
    one.refused && migrating.has(one.address) ? { ...one, wayOut: passwordFirst } : one,
  );
  return {
    ...{ ...input, ...defined({ notProbed }) },
    state: { ...input.state, migrations },
    desired: [...input.desired, ...twins],
    migrating,
  };
}

function isReplaced(subject: Subject, input: PlanInput): boolean {
  const { action, forcedBy } = propose(subject, input, asObserved(input));
  return action === "replace" && forcedBy !== undefined;
}

/** The object that takes over. Until the switch it holds only a copy, so nothing protects it. */
function nextTwin(desired: Desired): Desired {
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
    ...nextTwin(desired),
    spec: { ...desired.spec, ...Object.fromEntries(names) },
    refs: [...desired.refs, next],
  };
}

const noRules = { windows: [], hold: 0 };

/** Makes two steps out of `step`: the check before anything is made, and the cutover after everything was made. */
export function migrationSteps(
  step: Step,
  change: Change,
  subject: Subject,
  input: PlanInput,
): readonly Step[] {
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
  const outputs = mapped(input.outputs, ({ value, sensitive }) => ({ value, sensitive }));
  const part = (verb: string, refs: readonly Address[]): Step => ({
    ...step,
    key: `${address}#${verb}`,
    verb,
    refs,
    migration: { ...rules, cutover, inside, parameters, outputs },
  });
  const twins = [address, ...inside].map((each) => twinOf(each, "next"));
  return [part("preflight", []), part("cutover", [...twins, ...inside])];
}

/** Makes `step` the one that runs a hook again if it failed or was not reached, or leaves out one that is not declared any more. */
export function hookSteps(step: Step, subject: Subject, input: PlanInput): readonly Step[] {
  if (whyHookRuns(subject, input) === undefined) return [];
  const rules = subject.desired?.lifecycle.migration ?? noRules;
  const migration = { ...rules, cutover: false, inside: [], parameters: [] };
  return [{ ...step, key: `${step.address}#hook`, verb: "hook", migration }];
}

/** The guard against a replacement that was not asked for. `onReplace: recreate` asks for it, unless `onDelete: retain` keeps the old object. */
export function replacementGuard(change: Change, subject: Subject, input: PlanInput): Guard | undefined {
  const { action, address, kind, forcedBy } = change;
  if (action !== "replace" || input.options.replace.includes(address)) return undefined;
  const option = `--replace ${shellWord(address)}`;
  const { desired, bound } = subject;
  if (bound !== undefined && !input.kinds.named(kind).holdsData) return undefined;
  if (bound !== undefined && desired?.lifecycle.onReplace === "recreate") {
    if (desired.lifecycle.onDelete !== "retain" && bound.onDelete !== "retain") return undefined;
    const message = "a replacement deletes the old one, and lifecycle.onDelete: retain keeps it";
    return { code: "on-replace", message, lift: `${option}, or ${remedyForOnDelete(subject)}` };
  }
  const isMigrated = desired?.lifecycle.onReplace === "migrate";
  const message = isMigrated
    ? `${forcedBy ?? "this"} needs a replacement ${bound === undefined ? "of a database that is not bound yet: apply with the value that it has, and change it then, which moves its data" : "for another reason than a field of its own, and its data is not moved for that"}`
    : `${forcedBy ?? "this"} needs a replacement, which is refused: the new one starts empty`;
  const { operations, schema } = input.kinds.named(kind);
  const canMigrate =
    bound !== undefined &&
    subject.observed?.phase.is === "ready" &&
    forcedBy !== undefined &&
    operations.power?.every((operation) => input.profile.operations[operation] !== undefined) === true &&
    notCarried(change.fields, schema) === undefined;
  const moving = isMigrated || !canMigrate ? "" : "lifecycle.onReplace: migrate keeps the data; ";
  return { code: "on-replace", message, lift: `${moving}${option}, or lifecycle.onReplace: recreate` };
}

/** The first field that forces a replacement and that no way of moving data can carry. */
function notCarried(
  fields: Change["fields"],
  schema: KindSchema,
): { path: string; reason: string } | undefined {
  const carried = (path: string) => fieldRows(schema).get(path)?.["x-carried"];
  const stuck = fields.find(
    ({ path, effect }) => effect === "replace" && carried(path)?.by.includes("copy") === false,
  );
  return stuck && { path: stuck.path, reason: carried(stuck.path)?.reason ?? "" };
}

/** The reasons that the databases themselves have shown, with the way on: `--allow-destroy` for a deletion, and snapshots if they carry all that changes. */
export function immovableGuards(change: Change, input: PlanInput): readonly Guard[] {
  const found = input.immovable?.get(change.address) ?? [];
  const allow = destroys(change) ? `; or --allow-destroy ${shellWord(change.address)}` : "";
  if (allow !== "" && input.options.allowDestroy.includes(change.address)) return [];
  if (change.action !== "migrate") return found.map((guard) => ({ ...guard, lift: guard.lift + allow }));
  const rows = fieldRows(input.kinds.named(change.kind).schema);
  const has = (operation: string): boolean => input.profile.operations[operation] !== undefined;
  const canRestore = ["snapshot.create", "snapshot.copy", "snapshot.restore"].every(has);
  const forcing = change.fields.filter(({ effect }) => effect === "replace");
  const isByWay = forcing.every(({ path }) => rows.get(path)?.["x-carried"]?.by.includes("snapshot"));
  const word = shellWord(change.address);
  const other =
    canRestore && isByWay
      ? `, or move it by hand, without writers: graphform snapshot create ${word}, snapshot copy, snapshot restore`
      : "";
  return found.map((guard) => ({ ...guard, lift: `${guard.lift}${other}` }));
}

const passwordFirst =
  "the password first: take the change that needs a new database back, apply, and make it again then";

/** The guard against moving data that cannot be moved now. */
export function migrationGuard(change: Change, subject: Subject, input: PlanInput): Guard | undefined {
  const { action, address, kind, fields } = change;
  if (action !== "migrate") return undefined;
  const code = "on-replace";
  const former = twinOf(address, "former");
  const { resources } = afterMoves(input.state, input.moved, input.kinds);
  if (subject.previousAddress !== undefined && input.state.intents[twinOf(subject.previousAddress, "next")])
    return {
      code,
      message: `the create of its new database is in doubt as ${twinOf(subject.previousAddress, "next")}`,
      lift: "take the moved block out until an apply has resolved it",
    };
  const isGone = !input.observed.has(former) && input.doubts?.has(former) !== true;
  const isLeaving = input.options.allowDestroy.includes(former) || isGone;
  if (resources[former] !== undefined && isLeaving)
    return { code, message: `this plan removes ${former} first`, lift: "apply it, and plan again" };
  if (resources[former] !== undefined)
    return {
      code,
      message: `${former} is still kept from the migration before this one`,
      lift: `graphform replace undo ${shellWord(address)} goes back to it; or take the change back in the manifest; or --allow-destroy ${shellWord(former)} deletes it first, with the data that only it holds`,
    };
  const stuck = notCarried(fields, input.kinds.named(kind).schema);
  if (stuck !== undefined)
    return { code, message: `${stuck.path} is not carried: ${stuck.reason}`, lift: "leave it as it is" };
  const { subscription, subscriptions = subscription } = input.state.service ?? { subscription: "" };
  const lists = input.kinds.all.flatMap(({ schema, operations: { list } }) =>
    referenceFields(schema).some(({ place, section }) => place && section === kind) ? [list] : [],
  );
  const requests = JSON.stringify(lists.map((list) => input.profile.operations[list]));
  const message = "what is inside of it is listed by its subscription, which is not known";
  if (requests.includes("{subscriptionId}") && subscriptions === undefined)
    return { code, message, lift: "set service.subscriptionId" };
  const secret = fields.find((field) => field.secret)?.path;
  const both = `${secret} changes too, and the data is read with the one that was last applied`;
  if (secret !== undefined) return { code, message: both, lift: passwordFirst };
  if (subject.observed?.phase.is !== "stopped" || isReopened(subject, input)) return undefined;
  const { noun } = input.kinds.named(kind);
  const stopped = "it is stopped, and data moves only out of a running database";
  return { code, message: stopped, lift: `graphform ${noun} start ${shellWord(address)}` };
}
