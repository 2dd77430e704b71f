/** @module Makes a plan from declared, remembered and observed resources. Pure. */
import { type Address, byAddress, remedyForFailed, twinIn } from "../model/address.ts";
import { defined, type Json, stableJson } from "../model/json.ts";
import type { Source } from "../model/observed.ts";
import { type Census, type Change, makesObject, nestedPlan, type Plan, type Step } from "../model/plan.ts";
import { isLoginKind } from "../model/probe.ts";
import { isSealed } from "../model/sealed.ts";
import { addressesOfRemoval, resolveAddressOptions } from "./address-options.ts";
import { forecast } from "./forecast.ts";
import { guardsOf } from "./guards/guards-of.ts";
import { guardDependents, guardTogether } from "./guards/plan-guards.ts";
import { isBackedUpFirst } from "./guards/protection.ts";
import { partNow } from "./migration-words.ts";
import { afterMoves } from "./moves.ts";
import { order } from "./order.ts";
import { type Ahead, asObserved, outputChanges, outputsAfter, outputsAfterDestroy } from "./outputs.ts";
import { propose } from "./propose.ts";
import { withTwins } from "./replacement.ts";
import { stepsOf } from "./steps.ts";
import { heldBy as heldBySubject, type PlanInput, type Subject, subjectsOf } from "./subjects.ts";

/** Makes a plan. Pure. The result contains everything that apply needs, and no secret. */
export function makePlan(given: PlanInput): Plan {
  const input = withTwins(withResolvedOptions(given));
  const { chosen: subjects, leftOut } = subjectsOf(input);
  const refsOf = (address: Address): readonly Address[] => {
    const subject = subjects.get(address);
    return subject?.desired?.refs ?? subject?.bound?.refs ?? [];
  };
  const ahead = asObserved(input);
  const proposed = dependenciesFirst(subjects, refsOf).map((subject) =>
    proposeGuarded(subject, input, ahead),
  );
  const holdings = new Map(
    [...subjects].map(([address, subject]) => [
      address,
      subject.observed === undefined ? [] : heldBySubject(subject, input.kinds),
    ]),
  );
  const heldBy = (address: Address): readonly Address[] => holdings.get(address) ?? [];
  const changes = guardDependents(guardTogether(proposed, { chosen: subjects, leftOut }, input), {
    wantedBy: refsOf,
    heldBy,
  });
  const steps = order(
    changes.flatMap((change) => {
      const subject = subjects.get(change.address);
      return subject === undefined ? [] : stepsOf(change, subject, input);
    }),
    changes,
    heldBy,
    input.kinds,
  );
  const body: Omit<Plan, "fingerprint"> = {
    version: 1,
    name: input.name,
    lineage: input.state.serial === 0 ? "" : input.state.lineage,
    serial: input.state.serial,
    ...defined({ service: serviceOf(input) }),
    timestamp: input.timestamp,
    changes,
    steps,
    outputs: input.destroying
      ? outputsAfterDestroy(input, changes)
      : outputChanges(input, ahead, inProgress(steps)),
    census: census(subjects, leftOut, input),
    forecast: forecast(changes, steps, ahead.newObjects, input.profile, input.state.durations),
    complete: isComplete(input),
  };
  return { ...body, fingerprint: input.digest(stableJson(withoutSecrets(fingerprinted(body)))) };
}

/** The service without the digests of its requests, which differ between versions of a profile. */
function serviceOf({ state: { service } }: PlanInput): Plan["service"] {
  if (service === undefined) return undefined;
  const { locations: _, ...rest } = service;
  return rest;
}

/** True if nothing was left out, every list was whole, and every running object that was asked has answered. */
function isComplete({ options, notProbed = [], partialLists = [] }: PlanInput): boolean {
  const isWhole = options.targets.length === 0 && options.exclude.length === 0 && partialLists.length === 0;
  return isWhole && notProbed.every(({ failed }) => failed !== true);
}

/** The input with the patterns of its options and of `removed` resolved, and its migrations under their new addresses. */
function withResolvedOptions(input: PlanInput): PlanInput {
  const declared = input.desired.map(({ address }) => address);
  const { resources, migrations } = afterMoves(input.state, input.moved, input.kinds);
  const bound = Object.keys({ ...input.state.intents, ...resources });
  const { options } = resolveAddressOptions(input.options, { declared, bound });
  // An entry of one member counts before that of its whole block.
  const named = new Set(input.removed.map(({ address }) => address));
  const removed = input.removed.flatMap((entry) =>
    addressesOfRemoval(entry, { declared, bound })
      .filter((address) => address === entry.address || !named.has(address))
      .map((address) => ({ ...entry, address })),
  );
  return { ...input, state: { ...input.state, ...defined({ migrations }) }, options, removed };
}

/** The part of a plan that its fingerprint covers: everything that it does, wherever the manifest lies, without resources that stay as they are. */
function fingerprinted(body: Omit<Plan, "fingerprint">): object {
  const { name, lineage, serial, service, steps, outputs, complete } = body;
  const changes = body.changes
    .filter((change) => change.action !== "keep")
    .map(({ where: _, ...change }) => change);
  return {
    name,
    lineage,
    serial,
    ...defined({ service }),
    outputs,
    complete,
    ...nestedPlan({ changes, steps }),
  };
}

/** Proposes a change with its guards, and adds to `ahead` what it means for references. */
function proposeGuarded(subject: Subject, input: PlanInput, ahead: Ahead): Change {
  const proposed = propose(subject, input, ahead);
  const change: Change = {
    ...proposed,
    ...(isBackedUpFirst(proposed, subject, input) && { backupFirst: true }),
    ...remedyIfFailed(proposed, input),
  };
  const blocked = guardsOf(change, subject, input);
  const isNow = change.action !== "migrate" || partNow(subject, input).movesData;
  const { address, observed } = subject;
  if (blocked.length > 0 || !isNow) return { ...change, blocked };
  if (makesObject(change)) {
    ahead.newObjects.add(address);
    ahead.outputs.delete(address);
  } else if (observed !== undefined)
    ahead.outputs.set(address, outputsAfter(change, observed, input.kinds.named(change.kind)));
  return { ...change, blocked };
}

function remedyIfFailed(
  { address, kind, id, phase, action }: Change,
  { kinds, profile }: PlanInput,
): Pick<Change, "waysOn"> {
  const stays = action !== "delete" && action !== "replace" && action !== "forget";
  if (phase?.is !== "failed" || id === undefined || !stays) return {};
  return { waysOn: remedyForFailed(address, id, kinds.named(kind), profile) };
}

/** Addresses whose outputs may change: a step works on them. */
function inProgress(steps: readonly Step[]): ReadonlySet<Address> {
  const working = steps.filter(
    (step) => step.blocked.length === 0 && step.operation !== "bind" && step.operation !== "move",
  );
  return new Set(working.map((step) => step.address));
}

function census(
  subjects: ReadonlyMap<Address, Subject>,
  leftOut: readonly Subject[],
  input: PlanInput,
): Census {
  const fields: Record<Source, number> = { probed: 0, described: 0, echoed: 0, recorded: 0 };
  let checked = 0;
  for (const subject of subjects.values()) {
    if (subject.observed === undefined) continue;
    checked += 1;
    for (const seen of Object.values(subject.observed.spec)) fields[seen.source] += 1;
  }
  const own = input.desired.filter(({ address }) => twinIn(address) === undefined);
  const declared = own.length;
  const looked = own.filter((entry) => subjects.has(entry.address)).length;
  const { unmanaged, partialLists = [] } = input;
  return {
    declared,
    checked,
    skipped: input.destroying ? leftOut.length : declared - looked,
    unmanaged: unmanaged.length,
    fields,
    ...probes(subjects, input),
    ...(partialLists.length === 0 ? {} : { partialLists }),
  };
}

/** Counts the running databases that were asked themselves and the logins that were tried; nothing if the run asks none. */
function probes(
  subjects: ReadonlyMap<Address, Subject>,
  { notProbed, kinds }: PlanInput,
): Pick<Census, "probed" | "logins" | "notProbed" | "engines"> {
  if (notProbed === undefined) return {};
  const unasked = new Set(notProbed.flatMap(({ address, refused }) => (refused === true ? [] : [address])));
  const asked = [...subjects.values()].flatMap(({ address, observed }) =>
    unasked.has(address) || observed?.probed === undefined ? [] : [observed],
  );
  const logins = asked.filter(({ kind }) => isLoginKind(kinds.named(kind).schema)).length;
  const engines: Record<string, number> = {};
  for (const version of asked.flatMap(({ probed }) => probed?.engine ?? []).sort())
    engines[version] = (engines[version] ?? 0) + 1;
  return { probed: asked.length - logins, logins, notProbed, engines };
}

/** Fingerprints of secrets depend on the state's random key; the plan's own does not. */
function withoutSecrets(body: object): Json {
  return JSON.parse(JSON.stringify(body, (_, value: unknown) => (isSealed(value) ? "(secret)" : value)));
}

/** Subjects so that each comes after everything it refers to; ties by name. References that lead outside do not count. */
function dependenciesFirst(
  subjects: ReadonlyMap<Address, Subject>,
  refsOf: (address: Address) => readonly Address[],
): readonly Subject[] {
  const placed = new Set<Subject>();
  /** References of a subject that were not followed yet. */
  const open = new Map<Subject, Subject[]>();
  const inside = ({ address }: Subject): Subject[] =>
    refsOf(address).flatMap((ref) => subjects.get(ref) ?? []);
  for (const start of [...subjects.values()].sort(byAddress)) {
    const stack = [start];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const refs = open.get(top) ?? inside(top).sort(byAddress);
      open.set(top, refs);
      const next = refs.shift();
      if (next === undefined) {
        placed.add(top);
        stack.pop();
      } else if (!open.has(next)) stack.push(next);
    }
  }
  return [...placed];
}
