/** @module Words what a migration costs, and why an old database is kept. */
import { type Address, twinIn, twinOf, withoutTwin } from "../model/address.ts";
import { shellWord } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import { currentRehearsal, isClosed, isInWindow, mayMove, readOnlyTime } from "../model/migration.ts";
import { aboutDuration, formatDuration } from "../model/quantity.ts";
import { expectedTime } from "../model/time-limit.ts";
import type { PlanInput, Subject } from "./subjects.ts";

/** The reason not to delete an old database yet: its time is not over. */
export function whyHeld({ address, kind, observed }: Subject, input: PlanInput): string | undefined {
  const main = withoutTwin(address);
  const until = input.state.migrations?.[main]?.heldUntil;
  if (twinIn(address) !== "former" || until === undefined || !isDeclared(main, input)) return undefined;
  const isOver = input.now !== undefined && input.now >= Date.parse(until);
  if (isOver || input.options.allowDestroy.includes(address)) return undefined;
  const runs = `it RUNS, and takes writes that ${main} lacks: graphform ${input.kinds.named(kind).noun} stop ${shellWord(address)}`;
  return `another database is ${main} now; this one is kept until ${until}, two databases until then; ${observed?.phase.is === "ready" ? runs : "it is stopped"}`;
}

/** The reason for which an old database is deleted after its data was moved. */
export function whyRetired({ address, observed }: Subject, input: PlanInput): string | undefined {
  const main = withoutTwin(address);
  if (twinIn(address) !== "former" || input.state.migrations?.[main] === undefined) return undefined;
  const runs = observed?.phase.is === "ready" ? "; it RUNS, and takes writes of its own" : "";
  return isDeclared(main, input)
    ? `another database is ${main} now; what was written to this one alone is lost${runs}`
    : `kept for ${main}, which is no longer declared`;
}

function isDeclared(address: Address, { desired }: PlanInput): boolean {
  return desired.some((each) => each.address === address);
}

/** The part of a migration that an apply of this plan does now, in words, and if it may move the data. */
export function partNow(
  subject: Subject,
  input: PlanInput,
): { readonly movesData: boolean; readonly words: string } {
  const { address, previousAddress = address, kind, desired } = subject;
  const { options, now = 0, state, profile } = input;
  const { windows = [], maxReadOnly, hold = 0 } = desired?.lifecycle.migration ?? {};
  const rehearsed = currentRehearsal(
    state.migrations?.[address],
    state.resources[twinOf(previousAddress, "next")],
  );
  const stop = { kind, operation: "operate", verb: "stop" } as const;
  const time = rehearsed && readOnlyTime(rehearsed, expectedTime(stop, profile, state.durations));
  const cutover = options.cutover?.includes(address) === true;
  const terms = { cutover, windows, ...defined({ maxReadOnly }) };
  const isLeft = options.cutover === undefined || isReopened(subject, input);
  const may = (ms: number): boolean => !isLeft && mayMove(terms, ms, time !== undefined, now);
  const later = isInWindow(windows, now)
    ? ["a larger maxReadOnly"]
    : windows.map((window) => `${window} (UTC)`);
  const ways = [`--cutover ${shellWord(address)}`, ...later];
  const next = ["the next --cutover", ...later].join(" or ");
  const waits = cutover ? `rehearses, and ${next} moves the data` : `waits for ${ways.join(" or ")}`;
  const short = `rehearses, and moves the data if it is read-only for ${formatDuration(maxReadOnly ?? 0)} at most`;
  const moved = time === undefined ? "rehearses and moves the data" : "moves the data";
  const movesData = may(time ?? 0);
  const does = may(time ?? Number.POSITIVE_INFINITY) ? moved : movesData ? short : waits;
  const cost =
    time === undefined
      ? "read-only for a time that a rehearsal measures first, which slows the live database down"
      : `read-only about ${aboutDuration(time)} (rehearsed)`;
  return { movesData, words: `${cost}, two databases for ${formatDuration(hold)}; apply ${does}` };
}

/** True if an apply opens the database before its data is moved: a run before the switch was closing it, or its stop was carried out later than that. */
export function isReopened({ address, desired, observed }: Subject, { state }: PlanInput): boolean {
  const known = state.migrations?.[address];
  if (known === undefined || known.heldUntil !== undefined) return false;
  return isClosed(known) || (observed?.phase.is === "stopped" && desired?.spec["power"] !== "stopped");
}

/** The reason of a migration: its cost, and the part that an apply does now. */
export function whyMigrated(forcedBy: string, subject: Subject, input: PlanInput): string {
  const { bound, observed, address } = subject;
  const id = bound?.id ?? "it";
  if (!isReopened(subject, input))
    return `${forcedBy} cannot be changed in place: ${id} is replaced, data kept, ${partNow(subject, input).words}`;
  const how = observed?.phase.is === "stopped" ? "is stopped" : "may take no writes";
  return `${id} ${how}: an earlier run was closing it, and this state has no switch to ${address}~next; apply lets it take writes again unless ${address}~next may be in use, and its data is moved after that`;
}

/** The reason for a change of a database that a killed way back has stopped. Undefined if none has. */
export function whyOpened({ address, observed }: Subject, { state }: PlanInput): string | undefined {
  const known = state.migrations?.[address];
  if (!isClosed(known) || known?.heldUntil === undefined || observed?.phase.is === "ready") return undefined;
  return `an earlier replace undo was at work and did not end: apply starts this database; graphform replace undo ${shellWord(address)} goes back`;
}

/** The way to open a database that a killed run has closed, for a guard that holds back the change which opens it. */
export function howToOpen({ address, observed }: Subject, { state }: PlanInput): string {
  if (!isClosed(state.migrations?.[address]) || observed?.phase.is === "ready") return "";
  return `; graphform replace undo ${shellWord(address)} opens the database, which a run that was killed has closed`;
}

/** The reason for a step about the hook after the switch: it has failed, or was not reached, or is not declared any more. Undefined if none is due. */
export function whyHookRuns(
  { address, desired }: Pick<Subject, "address" | "desired">,
  { state }: Pick<PlanInput, "state">,
): string | undefined {
  const { hook } = desired?.lifecycle.migration ?? {};
  if (state.migrations?.[address]?.phase !== "hook") return undefined;
  return hook === undefined
    ? "its data was moved, and the hook after the switch is not declared any more: apply leaves it out"
    : "its data was moved, and the hook after the switch has not ended with 0: apply runs it again";
}
