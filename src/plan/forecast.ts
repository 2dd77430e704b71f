/** @module Estimates the impact of a plan: restarts, replacements, seconds, and the chain of steps that takes longest. */
import type { Address } from "../model/address.ts";
import { defined } from "../model/json.ts";
import type { Change, Forecast, ForecastStep, Step } from "../model/plan.ts";
import type { Profile } from "../model/service.ts";
import type { Durations } from "../model/state.ts";
import { expectedTime } from "../model/time-limit.ts";

/** `withNewObject`: addresses that get a new object now, as far as a plan can tell. `learned`: durations of earlier runs. */
export function forecast(
  changes: readonly Change[],
  steps: readonly Step[],
  withNewObject: ReadonlySet<Address>,
  profile: Profile,
  learned?: Durations,
): Forecast {
  const open = changes.filter((change) => change.blocked.length === 0);
  const chain = longestChain(
    steps.filter((step) => step.blocked.length === 0),
    (step) => expectedTime(step, profile, learned),
  );
  return {
    restarts: open.filter(
      ({ action, disruption }) =>
        (action === "update" || action === "adopt") && ["restart", "downtime"].includes(disruption),
    ).length,
    replacements: open.filter(
      ({ action, address }) => action === "replace" || (action === "migrate" && withNewObject.has(address)),
    ).length,
    seconds: inSeconds(chain.at(-1)?.end ?? 0),
    path: chain.filter((link) => link.end > link.start).map(pathStep),
  };
}

/** A step with its earliest start and end, in ms, and the step that it waits for until then. */
interface Link {
  readonly step: Step;
  readonly start: number;
  readonly end: number;
  readonly previous?: Link;
}

/** The steps that decide how long an apply takes, in their order. */
function longestChain(steps: readonly Step[], expected: (step: Step) => number): readonly Link[] {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const known = new Map<string, Link>();
  const linkOf = (step: Step): Link => {
    const before = known.get(step.key);
    if (before !== undefined) return before;
    known.set(step.key, { step, start: 0, end: 0 });
    const waits = step.after.flatMap((key) => byKey.get(key) ?? []);
    const previous = latest(waits.map(linkOf));
    const start = previous?.end ?? 0;
    const end = start + expected(step);
    const link = { step, start, end, ...defined({ previous }) };
    known.set(step.key, link);
    return link;
  };
  const chain: Link[] = [];
  for (let link = latest(steps.map(linkOf)); link !== undefined; link = link.previous) chain.unshift(link);
  return chain;
}

/** The first of those that end last. */
function latest(links: readonly Link[]): Link | undefined {
  return links.toSorted((one, other) => other.end - one.end)[0];
}

function pathStep({ step: { address, operation, verb }, start, end }: Link): ForecastStep {
  const seconds = inSeconds(end) - inSeconds(start);
  return { address, operation, ...defined({ verb }), seconds, start: inSeconds(start) };
}

function inSeconds(ms: number): number {
  return Math.round(ms / 1000);
}
