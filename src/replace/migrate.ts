/** @module Carries out the steps of a migration: the check before anything is made, the cutover, and the hook after it. */
import { type ApplyContext, driverOf, type StepResult, timestamp } from "../apply/context.ts";
import { isStale, staleResult } from "../apply/evidence/operation.ts";
import { type Address, twinOf } from "../model/address.ts";
import { GraphformError, shellWord } from "../model/errors.ts";
import { pathOfInfo } from "../model/field-schema.ts";
import { defined, mapped, stableJson } from "../model/json.ts";
import {
  currentRehearsal,
  isInWindow,
  type MigrationTerms,
  mayMove,
  type Rehearsed,
  readOnlyLimit,
  readOnlyTime,
} from "../model/migration.ts";
import type { Step } from "../model/plan.ts";
import { aboutDuration, parseSize } from "../model/quantity.ts";
import { referenceFields } from "../model/templates.ts";
import { expectedTime } from "../model/time-limit.ts";
import { backUp, runCutover } from "./cutover.ts";
import { type Inventory, takeInventory, totalsOf } from "./data/inventory.ts";
import { isOwnCopy, notOwnCopy, setCopyKey, writeCountOf } from "./data/own-copy.ts";
import { refusalsOf, refusalsOfSide } from "./data/preflight.ts";
import type { Reason } from "./data/refusals.ts";
import { rehearse } from "./data/rehearse.ts";
import { canRun, runHook } from "./hook.ts";
import { enterPhase, setPhase } from "./record.ts";
import { isLeftClosed, reopen } from "./shutdown.ts";
import { boundAt, openBound, withSides } from "./sides.ts";
import { undo } from "./undo.ts";

/** Carries out one step of a migration. */
export async function migrate(step: Step, context: ApplyContext): Promise<StepResult> {
  const terms = step.migration;
  if (terms === undefined) throw new Error("a step of a migration has its terms");
  if (step.verb === "preflight") return preflight(step, terms, context);
  if (step.verb === "undo") return undo(step, context);
  if (step.verb === "hook") return hook(step, terms, context);
  const end = await cutover(step, terms, context);
  return end.result === "done" ? hook(step, terms, context) : end;
}

/** Looks at the live database and refuses with every reason. Nothing is changed by it. */
async function preflight(
  step: Step,
  { inside, hook: [program] = [] }: MigrationTerms,
  context: ApplyContext,
): Promise<StepResult> {
  const { address, id = "" } = step;
  const kind = context.kinds.named(step.kind);
  const done = (message: string): StepResult => ({ result: "done", id, message, unsent: true });
  if (await isLeftClosed(step, context)) return done("an earlier cutover is to be ended first");
  const source = await openBound(address, context);
  try {
    const unknown = await unknownInside(step, inside, context);
    const inventory = await takeInventory(source, context.stopping);
    const rights = await refusalsOfSide(source, "source", context.stopping);
    const limit = pathOfInfo("maxmemory", "size", kind.schema) ?? "";
    const maxMemory = parseSize(String(step.spec?.[limit] ?? ""));
    const message = `the hook ${program} cannot be run: no such program in PATH, or at this path from here`;
    const isFit = program === undefined || (await canRun(program));
    const hooks = isFit ? [] : [{ message, hint: "name one that may be executed" }];
    const found = [...refusalsOf(inventory, defined({ maxMemory })), ...rights, ...unknown, ...hooks];
    if (found.length > 0) return refused(step, found);
    if (context.journal.state.migrations?.[address] === undefined) {
      // In the same place the new one has none either, and would be refused when writes wait already.
      const isSamePlace = stableJson(kind.place(step.spec ?? {})) === stableJson(step.place);
      const unsaved = inventory.isOnDisk || !isSamePlace ? undefined : await backUp(address, context);
      if (unsaved !== undefined) return unsaved;
      await setPhase(address, "create", {}, context);
    }
    return done(`${holds(inventory)} can be moved`);
  } finally {
    source.close();
  }
}

function holds(inventory: Inventory): string {
  const { databases, keys, graphs, nodes, edges } = totalsOf(inventory);
  const of = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
  return `${of(databases, "database")}, ${of(keys, "key")}, ${of(graphs, "graph")} with ${of(nodes, "node")} and ${of(edges, "edge")}`;
}

/** Objects inside of the live database that the manifest does not declare: their secrets are unknown. */
async function unknownInside(
  { address, kind, id = "", place }: Step,
  inside: readonly Address[],
  context: ApplyContext,
): Promise<readonly Reason[]> {
  const { resources } = context.journal.state;
  const declared = new Set(inside.flatMap((each) => resources[each]?.id ?? []));
  const live = await driverOf(context, kind).get({ id, place }, context.stopping);
  const recorded = resources[address]?.recorded ?? {};
  const remembered = mapped(recorded, (value) => ({ value, source: "recorded" as const }));
  const { implicitChildren } = context.kinds.named(kind);
  const ours = [live?.spec ?? {}, remembered].flatMap((spec) => implicitChildren(id, spec));
  const known = new Set([...declared, ...ours.map((child) => child.id)]);
  const places = context.kinds.all.flatMap((each) =>
    referenceFields(each.schema).flatMap(({ place: isPlace, section, path }) =>
      isPlace && section === kind ? [{ ...each, at: { [path]: id } }] : [],
    ),
  );
  const found = places.map(async ({ name, noun, at }) => {
    const ids = await driverOf(context, name).list(at, context.stopping);
    return ids.filter((other) => !known.has(other)).map((other) => `the ${noun} ${other}`);
  });
  return (await Promise.all(found)).flat().map((other) => ({
    message: `${other} is not declared: its secrets are not known, and the new database would lack it`,
    hint: "declare it with them, or delete it",
  }));
}

function refused({ id, address }: Step, reasons: readonly Reason[]): StepResult {
  return {
    result: "failed",
    message: `the data of ${address} cannot be moved: ${reasons.map(({ message }) => message).join("; ")}`,
    hint: [...new Set(reasons.map(({ hint }) => hint))].join("; "),
    ...defined({ id }),
  };
}

/** Rehearses, waits until the cutover is allowed, and cuts over. */
async function cutover(step: Step, terms: MigrationTerms, context: ApplyContext): Promise<StepResult> {
  const { address, id = "", place } = step;
  const known = context.journal.state.migrations?.[address];
  if (await isLeftClosed(step, context)) {
    const end = await reopen(step, context);
    const hint = `run it again: graphform apply --cutover ${shellWord(address)}`;
    return end.result === "done" ? { ...end, result: "waiting-for-person", hint } : end;
  }
  const live = await driverOf(context, step.kind).get({ id, place }, context.stopping);
  if (live === undefined) throw new GraphformError("gone", `${id} is not shown`, { exitCode: 6 });
  if (isStale(step, live, context)) return staleResult(step, { id, place }, live);
  return withSides(address, context, async (source, target) => {
    const inventory = await takeInventory(source, context.stopping);
    const { memory, ...own } = await takeInventory(target, context.stopping);
    const next = boundAt(twinOf(address, "next"), context);
    if (!(await isOwnCopy(target, known?.mark))) return refused(step, [notOwnCopy(next.id, id)]);
    // The checks of rights write: a count of writes says nothing after them.
    if (own.databases.length > 0) await target.primary.control.one(setCopyKey);
    const before = currentRehearsal(known, next);
    const facts = { ...own, maxMemory: memory.max, ...defined({ largest: before?.largest }) };
    const rights = await refusalsOfSide(target, "target", context.stopping);
    const reasons = [...refusalsOf(inventory, facts), ...rights];
    if (reasons.length > 0) return refused(step, reasons);
    const unsaved = own.isOnDisk || before ? undefined : await backUp(twinOf(address, "next"), context);
    if (unsaved !== undefined) return unsaved;
    if (before === undefined && !terms.cutover && !isInWindow(terms.windows, context.clock.now()))
      return waits(step, undefined, terms, context);
    const options = { inventory, keepParameters: terms.parameters };
    const rehearsed = before ?? (await rehearsal(step, [source, target, options, context.stopping], context));
    const time = readOnlyTime(rehearsed, stopTime(step, context));
    // A window may have closed while it rehearsed.
    if (!mayMove(terms, time, before !== undefined, context.clock.now()))
      return waits(step, rehearsed, terms, context);
    const sizes = { budget: readOnlyLimit(time), expectedBytes: rehearsed.bytes };
    return runCutover({ step, terms, facts, source, target, ...sizes }, context);
  });
}

function stopTime(step: Step, { profile, journal }: ApplyContext): number {
  const stop = { kind: step.kind, operation: "operate", verb: "stop" } as const;
  return expectedTime(stop, profile, journal.state.durations);
}

/** Rehearses, and records the measurements. */
async function rehearsal(
  step: Step,
  given: Parameters<typeof rehearse>,
  context: ApplyContext,
): Promise<Rehearsed> {
  await enterPhase(step, "rehearse", "copying and comparing; the live database answers more slowly", context);
  const found = await rehearse(...given);
  const next = context.journal.state.resources[twinOf(step.address, "next")]?.id ?? "";
  const rehearsed = { next, at: timestamp(context), ...found };
  const mark = await writeCountOf(given[1]);
  await setPhase(step.address, "await-cutover", { rehearsed, mark }, context);
  return rehearsed;
}

/** The result of a cutover that was not asked for yet. */
async function waits(
  step: Step,
  rehearsed: Rehearsed | undefined,
  { windows }: MigrationTerms,
  context: ApplyContext,
): Promise<StepResult> {
  const { address, id } = step;
  if (context.journal.state.migrations?.[address]?.phase !== "await-cutover")
    await setPhase(address, "await-cutover", {}, context);
  const window = isInWindow(windows, context.clock.now())
    ? ", or a larger lifecycle.migration.maxReadOnly lets it move in the window that is open"
    : windows.map((each) => `, or wait for ${each} (UTC)`).join("");
  const time = rehearsed && readOnlyTime(rehearsed, stopTime(step, context));
  const message =
    rehearsed === undefined || time === undefined
      ? "its data is moved when that is asked for: a rehearsal measures the read-only time, and slows the live database down meanwhile"
      : `ready: read-only for about ${aboutDuration(time)} (rehearsed ${rehearsed.at}; given up after ${aboutDuration(readOnlyLimit(time))}); the live database stood still for ${aboutDuration(rehearsed.stall)} at most`;
  const hint = `graphform apply --cutover ${shellWord(address)} ${rehearsed === undefined ? "rehearses" : "moves the data"}${window}`;
  return { result: "waiting-for-person", message, hint, ...defined({ id }) };
}

/** Runs the hook after the switch. One that fails is run again by the next apply; one that is not declared any more is left out. */
async function hook(step: Step, terms: MigrationTerms, context: ApplyContext): Promise<StepResult> {
  const { address } = step;
  const migration = context.journal.state.migrations?.[address];
  const bound = context.journal.state.resources[address];
  const done: StepResult = { result: "done", ...defined({ id: bound?.id }) };
  if (migration?.phase !== "hook") return done;
  if (terms.hook !== undefined) {
    context.stopping.throwIfAborted();
    if (migration.hook === "begun") {
      const message = `an earlier run began the hook at ${migration.since} and did not see its end: it may still be at work`;
      context.emit({ type: "warning", address, message });
    }
    const outputs = context.outputs.get(address) ?? {};
    const id = String(outputs["id"] ?? bound?.id ?? "");
    const endpoint = String(outputs["endpoint"] ?? "");
    const variables = { GRAPHFORM_ADDRESS: address, GRAPHFORM_ID: id, GRAPHFORM_ENDPOINT: endpoint };
    await enterPhase(step, "hook", terms.hook[0] ?? "", context, { hook: "begun" });
    const reason = await runHook(terms.hook, variables, context);
    if (reason !== undefined) {
      await setPhase(address, "hook", { hook: "due" }, context);
      const again = "apply runs the hook again";
      if (context.stopping.aborted)
        return { ...done, result: "interrupted", message: `the hook was ended: ${again}` };
      const message = `the data is moved and the address is switched, but the hook failed: ${reason}`;
      const hint = `repair the command, and let it write a log: its output is not kept; then ${again}`;
      return { ...done, result: "failed", message, hint };
    }
  }
  await setPhase(address, "hold", { hook: undefined }, context);
  return done;
}
