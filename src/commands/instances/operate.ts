/** @module Runs one lifecycle operation on a bound instance. */

import { outcomeOf } from "../../apply/outcome.ts";
import { kinds } from "../../kinds/index.ts";
import { shownVersion } from "../../kinds/instance-operations.ts";
import { exitCodes, GraphformError, ownError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Choices } from "../../model/kind.ts";
import type { Live, PhaseName } from "../../model/observed.ts";
import type { ApplyEvent } from "../../model/outcome.ts";
import type { Step } from "../../model/plan.ts";
import { preconditionText } from "../../model/precondition.ts";
import type { Bound } from "../../model/state.ts";
import type { Settings } from "../../project/settings.ts";
import { carryOut } from "../../reconcile/apply-plan.ts";
import { applyEvent } from "../../report/apply-events.ts";
import { escapeText } from "../../report/escape.ts";
import { errorEvent } from "../../report/events.ts";
import { jsonText } from "../../report/json-text.ts";
import { makePalette } from "../../report/palette.ts";
import { progressText } from "../../report/progress-text.ts";
import { kindNames } from "../../report/words.ts";
import type { ManifestOptions } from "../options.ts";
import { boundAt, liveAt } from "../service-target.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { interrupted, type Locked, underLock } from "../under-lock.ts";

/** A lifecycle operation of an instance. */
export type Verb = "backup" | "failover" | "start" | "stop" | "restart" | "upgrade";

/** Options of a lifecycle operation. */
export interface OperateOptions extends ManifestOptions {
  /** False: done as soon as the service has accepted it. */
  readonly wait?: boolean;
  readonly json?: boolean;
  /** failover: the node to give up. */
  readonly replica?: string;
  /** failover: the action on that node. */
  readonly action?: string;
  /** upgrade: the target version. */
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
  address: string,
  options: OperateOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const palette = makePalette(terminal.colour);
  const names = kindNames(kinds.all);
  const stamp = (): string => new Date().toISOString();
  const emit = (event: ApplyEvent): void => {
    // Without waiting the operation is only accepted: its result is not known, so it is not reported as done.
    if (options.wait === false && event.type === "step-end" && event.outcome.result === "done") return;
    if (options.json === true) terminal.out(`${jsonText(applyEvent(event, names, stamp))}\n`);
    else terminal.err(`${progressText(event, palette)}\n`);
  };
  const work = async (locked: Locked): Promise<number> => {
    const bound = boundAt(locked.state, address, "instances");
    await assertCanStart(verb, address, locked);
    const { replica, action, to: version } = options;
    const choices = {
      ...defined({ replica, action, version }),
    };
    const steps = await carryOut(stepsFor(verb, address, bound, choices, options, locked), locked.world);
    const { exitCode } = outcomeOf(steps, [], {}, []);
    if (locked.world.stopping.aborted) throw interrupted();
    if (verb === "upgrade" && exitCode === exitCodes.done && options.wait !== false)
      await assertUpgraded(address, bound, version, locked);
    for (const { hint } of steps) if (hint !== undefined) terminal.err(`${escapeText(hint)}\n`);
    if (options.json !== true)
      terminal.out(`${closing(verb, address, bound, exitCode, options, steps.at(-1)?.message)}\n`);
    return exitCode;
  };
  return underLock(options, settings, terminal, { operation: verb, emit, work }).catch((thrown: unknown) => {
    const error = ownError(thrown, settings.secrets.hide);
    if (options.json === true) terminal.out(`${jsonText(errorEvent(error, stamp))}\n`);
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
  { world }: Locked,
): readonly Step[] {
  const { kind, id, place } = bound;
  const anyLive: Live = { id, phase: { is: "ready", detail: "" }, spec: {}, outputs: {} };
  const step: Step = {
    key: address,
    ...(verb === "backup" ? { operation: "backup" } : { operation: "operate", verb }),
    address,
    kind,
    id,
    place,
    checks: [],
    precondition: world.digest(preconditionText(anyLive, [], {}, new Map())),
    after: [],
    blocked: [],
    ...(Object.keys(choices).length === 0 ? {} : { choices }),
    ...(options.wait === false ? { unattended: true } : {}),
    ...defined({ timeout: options.timeout }),
  };
  if (bound.converging === undefined) return [step];
  const { verb: _, unattended: __, choices: ___, ...rest } = step;
  const wait: Step = { ...rest, key: `${address}#wait`, operation: "wait" };
  return [wait, { ...step, after: [wait.key] }];
}

async function assertCanStart(verb: Verb, address: string, { state, service, world }: Locked): Promise<void> {
  if (!service.offers(`instance.${verb}`)) {
    throw new GraphformError(
      "not-offered",
      `profile ${service.profile.name} has no operation instance.${verb}`,
      {
        hint: "graphform profile show lists what it has",
      },
    );
  }
  const at = { service, clock: world.clock, signal: world.stopping };
  const { is, detail } = (await liveAt(state, address, at)).phase;
  if (is === "pending" || startPhases[verb].includes(is)) return;
  const hint =
    is === "stopped"
      ? `start it first: graphform instance start '${address}'`
      : "graphform plan shows how to fix it";
  throw new GraphformError("not-fit", `${address} is ${detail}, and ${verb} cannot start from there`, {
    hint,
  });
}

/** Throws `upgrade-unconfirmed` where the service shows another version than the one that was asked for. */
async function assertUpgraded(
  address: string,
  bound: Bound,
  version: string | undefined,
  { service, world }: Locked,
): Promise<void> {
  if (version === undefined) return;
  const shown = await shownVersion(service, bound, world.stopping);
  if (shown === undefined || shown === version) return;
  throw new GraphformError(
    "upgrade-unconfirmed",
    `${address} shows version ${shown} after the service took its upgrade to ${version}`,
    { hint: `what the service says of it: graphform instance events '${address}'` },
  );
}

/** The last line; that of a backup names its snapshot, which a restore or a copy asks for. */
function closing(
  verb: Verb,
  address: string,
  bound: Bound,
  exit: number,
  options: OperateOptions,
  message?: string,
): string {
  const where = `${escapeText(address, 300)} (${escapeText(bound.id, 100)})`;
  if (exit === exitCodes.done && options.wait === false) return `${where}: ${verb} accepted.`;
  if (exit === exitCodes.done && verb === "backup" && message !== undefined)
    return `${where}: ${escapeText(message, 300)}.`;
  if (exit === exitCodes.done) return `${where}: ${verb} complete.`;
  if (exit === exitCodes.converging)
    return `${where}: ${verb} is still running; the next apply waits for it.`;
  return `${where}: ${verb} did not succeed.`;
}
