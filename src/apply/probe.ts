/** @module Asks the running object of a step itself. */
import type { Live } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import { lastApplied } from "../model/precondition.ts";
import type { ProbeAnswer, ProbeRequest, Referent } from "../model/probe.ts";
import { valuesShown } from "../model/probe-reading.ts";
import { referenceFields } from "../model/reference-fields.ts";
import type { Spec } from "../model/spec.ts";
import { bindSpec } from "./bind.ts";
import { type ApplyContext, driverOf } from "./context.ts";

type Probing = Pick<Step, "kind" | "spec">;

/** Asks once; undefined where the kind cannot be asked. */
export async function askObject(
  step: Probing,
  live: Live,
  context: ApplyContext,
): Promise<ProbeAnswer | undefined> {
  const { probe } = driverOf(context, step.kind);
  return probe?.(requestOf(step, live, context), context.stopping);
}

/** Everything that the running object of a step is asked, or changed, with: secrets are open in it. */
export function requestOf({ kind, spec = {} }: Probing, live: Live, context: ApplyContext): ProbeRequest {
  const referents: Record<string, Referent> = {};
  for (const { path, section } of referenceFields(context.kinds.named(kind).schema)) {
    const address = `${section}.${String(spec[path])}`;
    const outputs = context.outputs.get(address);
    const recorded = context.journal.state.resources[address]?.recorded ?? {};
    if (outputs !== undefined) referents[path] = { outputs, spec: recorded };
  }
  return { live, spec: bindSpec(kind, spec, context), referents };
}

/**
 * A look with the values that the running object shows now, at the paths that the step was planned from by a probe. Where it
 * does not answer, these paths show nothing.
 */
export async function withProbedPaths(step: Step, live: Live, context: ApplyContext): Promise<Live> {
  const { probed = [] } = step;
  if (probed.length === 0 || live.phase.is !== "ready") return live;
  const answer = await askObject(step, live, context);
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
  const applied = lastApplied(context.stateAtStart, step.kind, live.id);
  return valuesShown(context.kinds.named(step.kind).schema, answer, (path) =>
    [step.spec?.[path], live.spec[path]?.value, applied[path]].filter((value) => value !== undefined),
  );
}
