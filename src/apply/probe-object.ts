/** @module Asks the running object of a step itself. */

import { valuesShown } from "../model/compare.ts";
import { GraphformError } from "../model/errors.ts";
import type { Live } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import { lastApplied } from "../model/precondition.ts";
import { type ProbeAnswer, type ProbeRequest, type Referent, sharedEndpoints } from "../model/probe.ts";
import type { Spec } from "../model/spec.ts";
import { hostsIn, knownValues } from "../model/templates.ts";
import { type ApplyContext, driverOf } from "./context.ts";

type Probing = Pick<Step, "address" | "kind" | "spec" | "place">;

/** Asks once, unless another object shows the same address; undefined if the kind cannot be asked. */
export async function askObject(
  step: Probing,
  live: Live,
  context: ApplyContext,
): Promise<ProbeAnswer | undefined> {
  const { probe } = driverOf(context, step.kind);
  if (probe === undefined) return undefined;
  return sharedAt(step, live, context) ?? probe(requestOf(step, live, context), context.stopping);
}

/** The answer of an object that shows the same address as another one, itself or by its parent; undefined for any other. */
export function sharedAt(
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
export function valuesToAskWith(spec: Spec, { open, outputs }: Pick<ApplyContext, "open" | "outputs">): Spec {
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
export function valuesOf(step: Probing, answer: ProbeAnswer, live: Live, context: ApplyContext): Spec {
  const applied = lastApplied(context.stateAtStart, step.kind, { id: live.id, place: step.place });
  return valuesShown(context.kinds.named(step.kind).schema, answer, (path) =>
    [step.spec?.[path], live.spec[path]?.value, applied[path]].filter((value) => value !== undefined),
  );
}
