/** @module Sets fields back in the running object itself, if they were changed by hand. */
import { GraphformError } from "../../model/errors.ts";
import type { Live } from "../../model/observed.ts";
import type { Step } from "../../model/plan.ts";
import { requestTo } from "../../polling/ask-objects.ts";
import { type ApplyContext, driverOf, type StepResult, timestamp } from "../context.ts";
import { submitChange } from "../engine/submit.ts";
import { type Attempts, type Evidence, isStale, shownOf, staleResult } from "../evidence/operation.ts";
import { probedBaseline, surroundingsOf, withProbedPaths } from "../probe-object.ts";
import { notAtRest, refOf, untilAtRest, withoutSending } from "./change.ts";

/** Sets fields back and reads them again. The state remembers only when they were seen right: an interrupted repair is planned again. */
export async function heal(step: Step, context: ApplyContext): Promise<StepResult> {
  const ref = refOf(step, context);
  const rest = await untilAtRest(step, ref, context);
  if (rest.is !== "arrived" || rest.live === undefined) return notAtRest(ref, rest);
  const { live } = rest;
  const wanted = step.patch ?? {};
  const look = (): Promise<Live> => withProbedPaths(step, live, context);
  const isHealed = (seen: Live): boolean => shownOf(wanted, step, seen, context) === "all";
  // A stopped database lost its runtime values and will start from the configuration.
  if (live.phase.is !== "ready") return staleResult(step, ref, live);
  const baseline = await probedBaseline(step, live, context);
  const done = async (): Promise<StepResult> => {
    const [paths, at] = [Object.keys(wanted), timestamp(context)];
    await context.journal.record({ type: "healed", address: step.address, paths, at });
    return { result: "done", id: ref.id };
  };
  if (isHealed(baseline)) return withoutSending(await done());
  if (isStale(step, baseline, context)) return staleResult(step, ref, baseline);
  const request = requestTo(step, live, surroundingsOf(context));
  if ("is" in request) return staleResult(step, ref, baseline);
  const setting = { ...request, spec: { ...request.spec, ...wanted } };
  const change = {
    what: `repair of ${ref.id}`,
    send: async () => driverOf(context, step.kind).heal?.(setting, Object.keys(wanted), context.aborting),
    look,
    // The repair may be sent again: only the value that is read back counts.
    evaluate: (seen: Live, { mayHaveWorked }: Attempts): Evidence => {
      if (isHealed(seen)) return { is: "accepted", value: undefined };
      const isSilent = Object.keys(wanted).some((path) => seen.spec[path] === undefined);
      return { is: isSilent && mayHaveWorked ? "unproven" : "repeat" };
    },
    timeout: context.profile.timing.endpoint,
  };
  await submitChange(change, context);
  if (isHealed(await look())) return done();
  const message = `${ref.id} still shows other values: ${Object.keys(wanted).join(", ")}`;
  const hint = "look at who changes them; the next plan sets them back again";
  throw new GraphformError("not-healed", message, { hint });
}
