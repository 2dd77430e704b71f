import { outcomeOf } from "../../apply/outcome.ts";
import { kinds } from "../../kinds/index.ts";
import { shownVersion } from "../../kinds/instance-upgrade.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import type { Choices } from "../../model/kind.ts";
import type { Live, PhaseName } from "../../model/observed.ts";
import type { ApplyEvent } from "../../model/outcome.ts";
import type { Step } from "../../model/plan.ts";
import { preconditionText } from "../../model/precondition.ts";
import type { Bound } from "../../model/state.ts";
import { carryOut } from "../../reconcile/apply-plan.ts";
import { applyEvent } from "../../report/apply-events.ts";
import { escapeText } from "../../report/escape.ts";
import { errorEvent } from "../../report/events.ts";
import { jsonText } from "../../report/json-text.ts";
import { kindNames } from "../../report/kind-words.ts";
import { makePalette } from "../../report/palette.ts";
import { progressText } from "../../report/progress-text.ts";
import { boundAt, kindNamed } from "../bound-at.ts";
import type { ManifestOptions } from "../options.ts";
import type { Terminal } from "../terminal.ts";
import { interrupted, type Locked, underLock } from "../under-lock.ts";

/** A lifecycle operation of an instance. */
export type Verb = "backup" | "failover" | "start" | "stop" | "restart" | "upgrade";

/** What a lifecycle operation was told. */
export interface OperateOptions extends ManifestOptions {
  /** False: done as soon as the service has accepted it. */
  readonly wait?: boolean;
  readonly json?: boolean;
  /** failover: the node to give up. */
  readonly replica?: string;
  /** failover: what to do with it. */
  readonly action?: string;
  /** upgrade: to which version. */
  readonly to?: string;
}

/** Phases that an operation can begin from (wire facts 2.4); what is on its way to something is waited for. */
const begins: { readonly [verb in Verb]: readonly PhaseName[] } = {
  backup: ["ready"],
  failover: ["ready"],
  restart: ["ready", "failed"],
  upgrade: ["ready"],
  start: ["stopped", "ready"],
  stop: ["ready", "stopped"],
};

/** `instance VERB ADDRESS`: one lifecycle operation upon a bound instance, waited for unless told otherwise. */
export async function operate(
  verb: Verb,
  address: string,
  options: OperateOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const palette = makePalette(terminal.colour);
  const names = kindNames(kinds);
  const stamp = (): string => new Date().toISOString();
  const emit = (event: ApplyEvent): void => {
    // What is not waited for is accepted, and nobody knows yet how it ends.
    if (options.wait === false && event.type === "step-end" && event.outcome.result === "done") return;
    if (options.json === true) terminal.out(`${jsonText(applyEvent(event, names, stamp))}\n`);
    else terminal.err(`${progressText(event, palette)}\n`);
  };
  const work = async (locked: Locked): Promise<number> => {
    const bound = boundAt(locked.state, address, "instances");
    await assertFit(verb, address, bound, locked);
    const { replica, action, to: version } = options;
    const choices = {
      ...(replica === undefined ? {} : { replica }),
      ...(action === undefined ? {} : { action }),
      ...(version === undefined ? {} : { version }),
    };
    const steps = await carryOut(stepsFor(verb, address, bound, choices, options, locked), locked.world);
    const { exitCode } = outcomeOf(steps, [], {}, []);
    if (locked.world.stopping.aborted) throw interrupted();
    if (verb === "upgrade" && exitCode === exitCodes.done && options.wait !== false)
      await assertUpgraded(address, bound, version, locked);
    for (const { hint } of steps) if (hint !== undefined) terminal.err(`${escapeText(hint)}\n`);
    if (options.json !== true) terminal.out(`${closing(verb, address, bound, exitCode, options)}\n`);
    return exitCode;
  };
  return underLock(options, env, terminal, { operation: verb, emit, work }).catch((error: unknown) => {
    if (options.json === true) terminal.out(`${jsonText(errorEvent(error, stamp))}\n`);
    throw error;
  });
}

/** What an earlier run left converging is waited for first, so that what it applied is recorded. */
function stepsFor(
  verb: Verb,
  address: string,
  bound: Bound,
  choices: Choices,
  options: OperateOptions,
  { world }: Locked,
): readonly Step[] {
  const { kind, id, place } = bound;
  const nothing: Live = { id, phase: { is: "ready", detail: "" }, spec: {}, outputs: {} };
  const step: Step = {
    key: address,
    ...(verb === "backup" ? { operation: "backup" } : { operation: "operate", verb }),
    address,
    kind,
    id,
    place,
    checks: [],
    precondition: world.digest(preconditionText(nothing, [], {})),
    after: [],
    blocked: [],
    ...(Object.keys(choices).length === 0 ? {} : { choices }),
    ...(options.wait === false ? { unattended: true } : {}),
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
  };
  if (bound.converging === undefined) return [step];
  const { verb: _, unattended: __, choices: ___, ...rest } = step;
  const wait: Step = { ...rest, key: `${address}#wait`, operation: "wait" };
  return [wait, { ...step, after: [wait.key] }];
}

async function assertFit(
  verb: Verb,
  address: string,
  bound: Bound,
  { service, world }: Locked,
): Promise<void> {
  if (!service.offers(`instance.${verb}`)) {
    throw new GraphformError(
      "not-offered",
      `profile ${service.profile.name} has no operation instance.${verb}`,
      {
        hint: "graphform profile show lists what it has",
      },
    );
  }
  const live = await kindNamed(bound.kind).reader(service).get(bound, world.stopping);
  if (live === undefined || live.phase.is === "gone") {
    throw new GraphformError("gone", `${address} (${bound.id}) is gone: it was deleted outside graphform`, {
      hint: "graphform plan shows what to do about it",
    });
  }
  const { is, detail } = live.phase;
  if (is === "pending" || begins[verb].includes(is)) return;
  const hint =
    is === "stopped"
      ? `start it first: graphform instance start '${address}'`
      : "graphform plan shows the way out";
  throw new GraphformError("not-fit", `${address} is ${detail}, and ${verb} cannot begin from there`, {
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

function closing(verb: Verb, address: string, bound: Bound, exit: number, options: OperateOptions): string {
  const where = `${escapeText(address, 300)} (${escapeText(bound.id, 100)})`;
  if (exit === exitCodes.done && options.wait === false) return `${where}: ${verb} accepted; not waited for.`;
  if (exit === exitCodes.done) return `${where}: ${verb} complete.`;
  if (exit === exitCodes.converging) return `${where}: ${verb} is not over yet; apply goes on waiting.`;
  return `${where}: ${verb} did not succeed.`;
}
