/** @module Proposes the change for one address; guards are applied to it later. */
import { type Address, twinIn, twinOf } from "../model/address.ts";
import { type Desired, isIgnored } from "../model/desired.ts";
import { shellWord } from "../model/errors.ts";
import { disruptions, type FieldSchema, fieldRows, inTableOrder, rowAt } from "../model/field-schema.ts";
import { defined, isObject, type Json, mapped } from "../model/json.ts";
import type { Kind } from "../model/kind.ts";
import { isClosed } from "../model/migration.ts";
import type { Observed } from "../model/observed.ts";
import type { Change, FieldChange, MayBe } from "../model/plan.ts";
import { passwordRefused } from "../model/probe.ts";
import { fewOf } from "../model/quantity.ts";
import { fieldsOf, type Spec } from "../model/spec.ts";
import { referencesIn, referent, resolveKnown, waitsFor } from "../model/templates.ts";
import { specOf } from "../model/values.ts";
import { mayBeThere, namesakeOf } from "./adoption-candidates.ts";
import { diffSpec, driftOf, heals, plannedFrom } from "./diff.ts";
import { whyHookRuns, whyMigrated, whyOpened } from "./migration-words.ts";
import type { Ahead } from "./outputs.ts";
import { lossOf, proposeRemoval } from "./removal.ts";
import {
  base,
  hasVanished,
  importerOf,
  markToKeep,
  type PlanInput,
  type Subject,
  whyMarked,
} from "./subjects.ts";

/** The change that one subject asks for; guards come later. */
export function propose(subject: Subject, input: PlanInput, ahead: Ahead): Change {
  const { desired, observed } = subject;
  if (desired === undefined) return proposeRemoval(subject, input);
  const wanted = { subject, desired, after: resolved(desired, ahead), input, ahead };
  if (observed === undefined) {
    const { holdsData } = input.kinds.named(desired.kind);
    const create = proposeCreate(wanted);
    return subject.bound === undefined
      ? create
      : { ...create, reason: whyRecreated(subject, holdsData, input) };
  }
  return isBeingDeleted(subject) ? proposeAfterDeletion(wanted, observed) : proposeUpdate(wanted, observed);
}

/** A declared address; `after` has every output filled in that does not change. */
interface Wanted {
  readonly subject: Subject;
  readonly desired: Desired;
  readonly after: Spec;
  readonly input: PlanInput;
  readonly ahead: Ahead;
}

/** True while an accepted deletion has not finished. An object that is at rest again was not deleted. */
export function isBeingDeleted({ bound, observed }: Subject): boolean {
  const unfinished = observed?.phase.is === "pending" || observed?.phase.is === "waiting-for-person";
  return bound?.converging?.operation === "delete" && unfinished;
}

function proposeCreate({ subject, desired, after, input, ahead }: Wanted): Change {
  const mayBe = mayBeThere({ ...desired, spec: after }, input, ahead);
  const open = input.state.intents[desired.address];
  const was = open?.refused === true ? "refused, which proves nothing" : "not acknowledged";
  return {
    ...base(subject),
    action: "create",
    reason:
      open === undefined
        ? whyCreated(mayBe)
        : `an earlier create was ${was}: apply looks for its object first, and creates nothing if that is found`,
    fields: [],
    disruption: "none",
    after,
    ...defined({ mayBe }),
  };
}

function whyCreated(mayBe: MayBe | undefined): string {
  if (mayBe === undefined) return "does not exist yet";
  if (mayBe.is !== "alike") return "no object is bound to it";
  const [verb, subject] = mayBe.count === 1 ? ["is", "it"] : ["are", "one of them"];
  return `the state knows nothing, and ${fewOf(mayBe.ids, mayBe.count)} ${verb} there already, alike as far as the service shows: if ${subject} is this, put the lost state back, or bind it under imports`;
}

function whyRecreated(subject: Subject, holdsData: boolean, { state }: PlanInput): string {
  const id = subject.bound?.id ?? "";
  if (subject.doubt?.is === "another") return `${id} is another object by now`;
  if (subject.doubt !== undefined) return `${id} may be gone, and then a new one is created`;
  if (!hasVanished(subject)) return `the deletion of ${id} has ended; a new one is created`;
  const lost =
    holdsData && twinIn(subject.address) !== "next"
      ? "and its data is lost; a new, empty one"
      : "and no data is lost with it; a new one";
  const former = state.resources[twinOf(subject.address, "former")];
  const kept =
    former === undefined
      ? ""
      : `; ${former.id}, the database before the last switch, is kept, stopped: graphform replace undo ${shellWord(subject.address)} goes back to it`;
  return `${id} is gone: it was deleted outside graphform, ${lost} is created${kept}`;
}

/** Declared again while it is being deleted: the deletion cannot be undone, so a new object follows it. */
function proposeAfterDeletion({ subject, desired, after, input }: Wanted, observed: Observed): Change {
  const { holdsData } = input.kinds.named(desired.kind);
  return {
    ...base(subject),
    action: "replace",
    reason: "its deletion is under way",
    fields: [],
    disruption: holdsData ? "data-loss" : "downtime",
    before: specOf(observed),
    after,
  };
}

function proposeUpdate(wanted: Wanted, observed: Observed): Change {
  const { subject, desired, after, input, ahead } = wanted;
  const kind = input.kinds.named(desired.kind);
  const rows = fieldRows(kind.schema);
  const adopting = subject.bound === undefined;
  const marked = { ...after, ...markToKeep(subject, input) };
  const ignored = desired.lifecycle.ignoreChanges;
  const compared = {
    desired: marked,
    observed: plannedFrom(observed.spec, rows, subject.bound),
    rows,
    following: pathsThatFollow(ahead, kind, after, input),
    unseen: adopting ? "trust" : "set",
  } as const;
  const differing = diffSpec({ ...compared, ignored });
  const fixed = differing.filter(({ effect }) => effect === "replace").map(({ path }) => path);
  const [forcedBy] = inTableOrder(kind.schema, fixed);
  const requested = input.options.replace.includes(subject.address);
  const isReplaced = forcedBy !== undefined || requested;
  const isMoving = forcedBy !== undefined && input.migrating?.has(subject.address) === true;
  // A new object is made as declared, whatever the old one keeps; a twin of an earlier run keeps what it was made with.
  const made = isMoving ? input.observed.get(twinOf(subject.address, "next"))?.spec : undefined;
  const keptIn = (value: Json, at: string) => (isIgnored(at, ignored) ? (made?.[at]?.value ?? value) : value);
  // An object that is started or stopped loads its configured values.
  const isReloaded = differing.some(({ path }) => rowAt(rows, path)["x-operations"] !== undefined);
  const healed = isReloaded ? [] : heals(after, observed, rows, ignored);
  const fields = isReplaced
    ? diffSpec({ ...compared, desired: mapped(marked, keptIn), ignored: [] })
    : [...differing, ...healed].sort((a, b) => (a.path < b.path ? -1 : 1));
  // A run that was killed while it stopped or started the object has not recorded that.
  const isOurs = isClosed(input.state.migrations?.[subject.address]);
  const shared = {
    ...base(subject),
    before: specOf(observed),
    after,
    fields,
    drift: driftOf(observed, subject.bound, marked, kind, fields).filter(
      ({ path }) => !isOurs || rowAt(rows, path)["x-operations"] === undefined,
    ),
  };
  const importer = importerOf(subject, input);
  if (isReplaced && importer !== undefined) {
    const reason = `${observed.id} is bound to ${importer.address} from now on; a new one is created`;
    return { ...proposeCreate(wanted), reason };
  }
  if (isMoving) {
    const reason = whyMigrated(forcedBy, subject, input);
    return { ...shared, action: "migrate", reason, disruption: "downtime", forcedBy };
  }
  if (isReplaced) {
    const disruption = lossOf(subject.address, desired.kind, input);
    const reason = forcedBy === undefined ? "replacement asked for" : whyForced(forcedBy, wanted, kind);
    const mayBe = namesakeOf({ ...desired, spec: after }, input, ahead);
    return { ...shared, action: "replace", reason, disruption, ...defined({ forcedBy, mayBe }) };
  }
  const disruption =
    disruptions.findLast((each) => fields.some((field) => field.disruption === each)) ?? "none";
  const bound = [`existing ${observed.id} is bound`, ...whyRefused(fields)].join("; ");
  if (adopting) return { ...shared, action: "adopt", reason: bound, disruption };
  const reasons = [
    ...(fields.length === 0 ? [] : [whyChanged(fields, subject, input), whyOpened(subject, input)]),
    whyHookRuns(subject, input),
  ].filter((reason) => reason !== undefined);
  if (reasons.length > 0) return { ...shared, action: "update", reason: reasons.join("; "), disruption };
  if (subject.previousAddress !== undefined)
    return { ...shared, action: "move", reason: `moved from ${subject.previousAddress}`, disruption: "none" };
  return { ...shared, action: "keep", reason: "as declared", disruption: "none" };
}

/** The desired spec with every output filled in that is known before the plan is applied. */
function resolved(desired: Desired, { outputs }: Ahead): Spec {
  const value = resolveKnown(desired.spec, (address) => outputs.get(address));
  return isObject(value) ? value : desired.spec;
}

/** Paths whose value names, or waits for, an address that gets a new object, or waits for an output that a change in place leaves unknown. */
function pathsThatFollow(
  { newObjects }: Ahead,
  kind: Kind,
  after: Spec,
  { migrating, observed }: Pick<PlanInput, "migrating" | "observed">,
): ReadonlySet<string> {
  const rows = fieldRows(kind.schema);
  // An object inside of a migrated one goes to the new object with it.
  const paths = fieldsOf(after).filter(
    ([path, value]) =>
      referents(value, rowAt(rows, path)).some(
        (address) =>
          newObjects.has(address) && !(rowAt(rows, path)["x-reference"] && migrating?.has(address) === true),
      ) ||
      referencesIn(value)
        .map(referent)
        .some(({ address, output }) => Object.hasOwn(observed.get(address)?.outputs ?? {}, output)),
  );
  return new Set(paths.map(([path]) => path));
}

function referents(value: Json, row: FieldSchema): readonly Address[] {
  const section = row["x-reference"]?.section;
  return section !== undefined && typeof value === "string" ? [`${section}.${value}`] : waitsFor(value);
}

function whyForced(path: string, { after, input, ahead }: Wanted, kind: Kind): string {
  const value = after[path] ?? null;
  const address = referents(value, rowAt(fieldRows(kind.schema), path)).find((referent) =>
    ahead.newObjects.has(referent),
  );
  if (address !== undefined)
    return `recreated because ${address} is ${input.observed.has(address) ? "replaced" : "created"}`;
  const [changing] = referencesIn(value);
  return changing === undefined
    ? `${path} cannot be changed in place`
    : `recreated because ${changing} changes`;
}

function whyChanged(fields: readonly FieldChange[], subject: Subject, input: PlanInput): string {
  if (subject.observed?.phase.is === "failed")
    return `failed (${subject.observed.phase.detail}); tried again in place`;
  const whyMark = whyMarked(fields, subject, input);
  if (whyMark !== undefined) return whyMark;
  const healed = fields.filter(({ via }) => via !== undefined).length;
  const refused = fields.filter(isRefused).length;
  const rest = fields.length - healed - refused;
  const byHand = "set by hand in the database: set back in the running database, without a restart";
  return [
    ...whyRefused(fields),
    ...(rest === 0 ? [] : [counted(rest, "differs", "differ")]),
    ...(healed === 0 ? [] : [`${counted(healed, "was", "were")} ${byHand}`]),
  ].join("; ");
}

const isRefused = ({ source, before }: FieldChange): boolean => source === "probed" && before === null;

function whyRefused(fields: readonly FieldChange[]): readonly string[] {
  const rotated = "apply sets it there; if it was rotated on purpose, put the new one into its secret";
  return fields.some(isRefused) ? [`${passwordRefused}: ${rotated}`] : [];
}

function counted(count: number, one: string, several: string): string {
  return count === 1 ? `1 field ${one}` : `${count} fields ${several}`;
}
