/** @module Asks the running object of a step itself: before a write, until it answers, and after an update. */

import { valuesShown } from "../model/compare.ts";
import { GraphformError } from "../model/errors.ts";
import { fieldRows } from "../model/field-schema.ts";
import type { Usable } from "../model/kind.ts";
import type { Live, Ref } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import { lastApplied } from "../model/precondition.ts";
import { type ProbeAnswer, type ProbeRequest, type Referent, sharedEndpoints } from "../model/probe.ts";
import { fieldsOf, type Spec } from "../model/spec.ts";
import { hostsIn, knownValues } from "../model/templates.ts";
import { isTimeUp } from "../model/time-limit.ts";
import { poll } from "../polling/poll.ts";
import { type ApplyContext, driverOf } from "./context.ts";

type Probing = Pick<Step, "address" | "kind" | "spec" | "place">;

/** Asks once, unless another object shows the same address; undefined if the kind cannot be asked. */
async function askObject(step: Probing, live: Live, context: ApplyContext): Promise<ProbeAnswer | undefined> {
  const { probe } = driverOf(context, step.kind);
  if (probe === undefined) return undefined;
  return sharedAt(step, live, context) ?? probe(requestOf(step, live, context), context.stopping);
}

/** The answer of an object that shows the same address as another one, itself or by its parent; undefined for any other. */
function sharedAt(
  { address, kind, spec = {} }: Probing,
  live: Live,
  context: ApplyContext,
): Extract<ProbeAnswer, { readonly is: "unanswered" }> | undefined {
  const hosts = hostsIn(context.kinds.named(kind).schema, spec);
  const names = [address, ...hosts.map((host) => host.address)];
  const outputs = [live.outputs, ...hosts.map((host) => context.outputs.get(host.address))];
  const endpoints = new Set(outputs.flatMap((shown) => shown?.["endpoint"] ?? []));
  if (endpoints.size === 0) return undefined;
  const others = [...context.outputs].filter(([, { endpoint = "" }]) => endpoints.has(endpoint));
  const shared = sharedEndpoints(new Map([...others, [address, live.outputs]]));
  return names.map((name) => shared.get(name)).find((answer) => answer !== undefined);
}

/** The request to the running object of a step; secrets are open in it. */
export function requestOf({ kind, spec = {} }: Probing, live: Live, context: ApplyContext): ProbeRequest {
  const referents: Record<string, Referent> = {};
  for (const { path, address } of hostsIn(context.kinds.named(kind).schema, spec)) {
    const outputs = context.outputs.get(address);
    const recorded = context.journal.state.resources[address]?.recorded ?? {};
    if (outputs !== undefined) referents[path] = { outputs, spec: valuesToAskWith(recorded, context) };
  }
  return { live, spec: valuesToAskWith(spec, context), referents };
}

/** The values of a step that are known now, secrets opened, without those that wait for another object. */
function valuesToAskWith(spec: Spec, { open, outputs }: Pick<ApplyContext, "open" | "outputs">): Spec {
  return knownValues(spec, open, (address) => outputs.get(address));
}

/** A look with the running object's own values at the paths that a probe was planned from; nothing if it does not answer. */
export async function withProbedPaths(step: Step, live: Live, context: ApplyContext): Promise<Live> {
  return isAsked(step, live) ? withShown(step, live, await askObject(step, live, context), context) : live;
}

/** The same just before a write. Throws `not-asked` if the running object does not answer: the precondition is unknown then. */
export async function probedBaseline(step: Step, live: Live, context: ApplyContext): Promise<Live> {
  if (!isAsked(step, live)) return live;
  const answer = await askObject(step, live, context);
  const baseline = withShown(step, live, answer, context);
  const reason = answer?.is === "answered" ? answer.denied : answer?.reason;
  if (reason === undefined || step.probed?.every((path) => baseline.spec[path] !== undefined))
    return baseline;
  const message = `${live.id} could not be asked again, and nothing was sent: ${reason}`;
  throw new GraphformError("not-asked", message, { hint: "apply again once its database answers" });
}

/** True if the step was planned from values of the running object, and it may be asked again. */
function isAsked({ probed = [] }: Step, { phase }: Live): boolean {
  return probed.length > 0 && phase.is === "ready";
}

function withShown(step: Step, live: Live, answer: ProbeAnswer | undefined, context: ApplyContext): Live {
  const { probed = [] } = step;
  const values = answer === undefined ? {} : valuesOf(step, answer, live, context);
  const others = Object.entries(live.spec).filter(([path]) => !probed.includes(path));
  const shown = probed.flatMap((path) => {
    const value = values[path];
    return value === undefined ? [] : [[path, { value, source: "probed" }] as const];
  });
  return { ...live, spec: Object.fromEntries([...others, ...shown]) };
}

/** The values of an answer in the manifest's words, dotted path -> value. */
function valuesOf(step: Probing, answer: ProbeAnswer, live: Live, context: ApplyContext): Spec {
  const applied = lastApplied(context.stateAtStart, step.kind, { id: live.id, place: step.place });
  return valuesShown(context.kinds.named(step.kind).schema, answer, (path) =>
    [step.spec?.[path], live.spec[path]?.value, applied[path]].filter((value) => value !== undefined),
  );
}

/** Tries the resource itself for at most `timeout` ms. One that does not answer is a warning: it may be unreachable from here on purpose. */
export async function untilUsable(
  step: Step,
  ref: Ref,
  live: Live,
  timeout: number,
  context: ApplyContext,
): Promise<void> {
  const driver = driverOf(context, step.kind);
  const { endpoint } = context.profile.timing;
  const canTry = driver.usable !== undefined || driver.probe !== undefined;
  if (!canTry || live.phase.is !== "ready" || step.spec === undefined || endpoint === 0) return;
  const spec = valuesToAskWith(step.spec, context);
  let last: Usable | undefined;
  const look = async (): Promise<Usable | undefined> => {
    const shared = sharedAt(step, live, context);
    if (shared !== undefined) return { is: "unknown", detail: shared.reason };
    return driver.usable === undefined
      ? loginOf(await askObject(step, live, context))
      : driver.usable(live, spec, context.stopping);
  };
  const evaluate = (usable: Usable | undefined): Usable | undefined => {
    last = usable;
    return usable?.is === "not-yet" ? undefined : usable;
  };
  const deadline = context.clock.now() + Math.min(timeout, endpoint);
  await poll({ look, evaluate, deadline }, context).catch((error: unknown) => {
    if (!context.stopping.aborted && !isTimeUp(error)) throw error;
    last = undefined;
  });
  if (last === undefined || last.is === "usable" || last.detail === "") return;
  context.emit({ type: "warning", address: step.address, message: `${ref.id}: ${last.detail}` });
}

/** A probe as a try: only a refused login is waited for. */
function loginOf(answer: ProbeAnswer | undefined): Usable {
  if (answer?.is === "refused") return { is: "not-yet", detail: answer.reason };
  return { is: answer?.is === "answered" ? "usable" : "unknown", detail: "" };
}

/** Finds paths that were just applied and for which the running object shows another value. Empty if it cannot be asked. */
export async function ineffectivePaths(
  step: Step,
  ref: Ref,
  live: Live,
  context: ApplyContext,
): Promise<readonly string[]> {
  const { stopping, profile } = context;
  const rows = fieldRows(context.kinds.named(step.kind).schema);
  const sent = fieldsOf(step.spec ?? {}).filter(([path]) => {
    const row = rows.get(path);
    return row?.["x-probe"] !== undefined && row["x-create-only"] !== true;
  });
  if (sent.length === 0 || live.phase.is !== "ready" || profile.timing.endpoint === 0 || stopping.aborted)
    return [];
  const answer = await askObject(step, live, context).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
    return undefined;
  });
  const shown = answer === undefined ? {} : valuesOf(step, answer, live, context);
  // A value that means the same as the declared one is reported as the declared one.
  const ineffective = sent.filter(([path, value]) => shown[path] !== undefined && shown[path] !== value);
  for (const [path] of ineffective)
    context.emit({
      type: "warning",
      address: step.address,
      message: `${ref.id}: ${path} was applied, and the database does not follow; it is not sent again as it is`,
    });
  return ineffective.map(([path]) => path);
}
