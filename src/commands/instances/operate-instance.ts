/** @module Runs one lifecycle operation on a bound instance. */
import { unplannedStep } from "../../apply/context.ts";
import { outcomeOf } from "../../apply/join-results.ts";
import { describedValues } from "../../kinds/instance-operations.ts";
import { exitCodes, GraphformError, ownError } from "../../model/errors.ts";
import { defined, type Json, stableJson, textIn } from "../../model/json.ts";
import type { Choices } from "../../model/kind.ts";
import type { PhaseName } from "../../model/observed.ts";
import type { ApplyEvent } from "../../model/outcome.ts";
import type { Step } from "../../model/plan.ts";
import type { Bound } from "../../model/state.ts";
import { type Run, unresolved } from "../../project/open-run.ts";
import { runSteps } from "../../reconcile/apply-plan.ts";
import { escapeText } from "../../report/typeset.ts";
import { boundAt, liveAt } from "../bound-objects.ts";
import { stepReport } from "../reports/apply-report.ts";
import { type Invocation, interrupted, type ManifestOptions, withRun } from "../with-run.ts";

export type Verb = "backup" | "failover" | "start" | "stop" | "restart" | "upgrade";

interface OperateOptions extends ManifestOptions {
  /** False: done as soon as the service has accepted it. */
  readonly wait?: boolean;
  readonly replica?: string;
  readonly action?: string;
  readonly to?: string;
}

/** Phases from which an operation can start; a pending phase is waited for first. */
const startPhases: { readonly [verb in Verb]: readonly PhaseName[] } = {
  backup: ["ready"],
  failover: ["ready"],
  restart: ["ready", "failed"],
  upgrade: ["ready"],
  start: ["stopped", "ready"],
  stop: ["ready", "stopped"],
};

/** `instance VERB ADDRESS`: runs the operation, and waits for it unless `wait` is false. Throws `not-offered`, `not-fit`, `gone`. */
export async function operate(
  verb: Verb,
  invocation: Invocation<OperateOptions>,
  address: string,
): Promise<number> {
  const { options, settings, terminal } = invocation;
  const report = stepReport(options.json === true, terminal);
  const held: ApplyEvent[] = [];
  const release = (): void => {
    for (const event of held.splice(0)) report.event(event);
  };
  const emit = (event: ApplyEvent): void => {
    const isDone = event.type === "step-end" && event.outcome.result === "done";
    // Without waiting the operation is only accepted: its result is not known, so it is not reported as done.
    if (isDone && options.wait === false) return;
    release();
    // The service may say yet that it refused.
    if (isDone) held.push(event);
    else report.event(event);
  };
  const warn = (message: string): void => emit({ type: "warning", message });
  const wanted = { reading: unresolved, lock: verb, warn };
  return withRun(invocation, wanted, async (run, { aborting }) => {
    const bound = boundAt(run.state, address, "instances");
    await assertCanStart(verb, address, run);
    const { replica, action, to: version } = options;
    const choices = defined({ replica, action, version });
    const before = await failureOf(bound, run);
    const deps = run.applying({ emit, aborting });
    const steps = await runSteps(stepsFor(verb, address, bound, choices, options, deps.digest), deps);
    const { exitCode } = outcomeOf(steps, [], {}, []);
    if (deps.stopping.aborted) throw interrupted();
    const isDone = exitCode === exitCodes.done && options.wait !== false;
    if (isDone) assertNotRefused(verb, address, before, await failureOf(bound, run));
    if (isDone && version !== undefined) await assertUpgraded(address, bound, version, run);
    release();
    for (const { hint } of steps) if (hint !== undefined) terminal.err(`${escapeText(hint)}\n`);
    const where = `${escapeText(address, 300)} (${escapeText(bound.id, 100)})`;
    if (options.json !== true)
      terminal.out(`${where}: ${closing(verb, exitCode, options, steps.at(-1)?.message)}\n`);
    return exitCode;
  }).catch((thrown: unknown) => {
    const error = ownError(thrown, settings.secrets.hide);
    report.error(error);
    throw error;
  });
}

/** Steps of the operation. An operation that an earlier run left converging is waited for first, so its result is recorded. */
function stepsFor(
  verb: Verb,
  address: string,
  bound: Bound,
  choices: Choices,
  options: OperateOptions,
  digest: (text: string) => string,
): readonly Step[] {
  const step: Step = {
    ...unplannedStep(address, bound, verb === "backup" ? "backup" : "operate", digest),
    ...(verb === "backup" ? {} : { verb }),
    ...(Object.keys(choices).length === 0 ? {} : { choices }),
    ...(options.wait === false ? { unattended: true } : {}),
    ...defined({ timeout: options.timeout }),
  };
  if (bound.converging === undefined) return [step];
  const { verb: _, unattended: __, choices: ___, ...rest } = step;
  const wait: Step = { ...rest, key: `${address}#wait`, operation: "wait" };
  return [wait, { ...step, after: [wait.key] }];
}

async function assertCanStart(verb: Verb, address: string, run: Run): Promise<void> {
  const { service } = run;
  const lacking = `profile ${service.profile.name} has no operation instance.${verb}`;
  if (!service.offers(`instance.${verb}`))
    throw new GraphformError("not-offered", lacking, { hint: "graphform profile show lists what it has" });
  const { is, detail } = (await liveAt(address, run)).phase;
  if (is === "pending" || startPhases[verb].includes(is)) return;
  const start = `start it first: graphform instance start '${address}'`;
  const hint = is === "stopped" ? start : "graphform plan shows how to fix it";
  const message = `${address} is ${detail}, and ${verb} cannot start from there`;
  throw new GraphformError("not-fit", message, { hint });
}

/** The failure that the service shows last, with its time: the same one may come again. Undefined if it cannot be read now. */
async function failureOf(
  bound: Bound,
  { service, signal }: Run,
): Promise<{ readonly failure: string; readonly at: Json } | undefined> {
  const values = await describedValues(service, bound, signal).catch(() => undefined);
  return values && { failure: textIn(values["failure"]) ?? "", at: values["failedAt"] ?? null };
}

/** Throws `operation-refused` if the service shows a failure that it did not show before: what serves keeps its status. */
function assertNotRefused(
  verb: Verb,
  address: string,
  before: Awaited<ReturnType<typeof failureOf>>,
  now: typeof before,
): void {
  if (before === undefined || now === undefined || now.failure === "") return;
  if (stableJson(before) === stableJson(now)) return;
  const message = `the service took the ${verb} of ${address}, and says that it failed: ${now.failure}`;
  const hint = `what the service says of it: graphform instance events '${address}'`;
  throw new GraphformError("operation-refused", message, { hint });
}

/** Throws `upgrade-unconfirmed` if the service shows another version than the one that was asked for. */
async function assertUpgraded(
  address: string,
  bound: Bound,
  version: string,
  { service, signal }: Run,
): Promise<void> {
  const { version: shown } = await describedValues(service, bound, signal);
  if ((typeof shown !== "string" && typeof shown !== "number") || String(shown) === version) return;
  const message = `${address} shows version ${shown} after the service took its upgrade to ${version}`;
  const hint = `what the service says of it: graphform instance events '${address}'`;
  throw new GraphformError("upgrade-unconfirmed", message, { hint });
}

/** The end of the last line; that of a backup names its snapshot, which a restore or a copy asks for. */
function closing(verb: Verb, exit: number, { wait }: OperateOptions, message?: string): string {
  if (exit === exitCodes.converging) return `${verb} is still running; the next apply waits for it.`;
  if (exit !== exitCodes.done) return `${verb} did not succeed.`;
  if (wait === false) return `${verb} accepted.`;
  return verb === "backup" && message !== undefined ? `${escapeText(message, 300)}.` : `${verb} complete.`;
}
