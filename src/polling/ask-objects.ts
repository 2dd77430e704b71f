/** @module Asks running objects themselves: all that are declared, or one; never if two of them show one address. */
import { type Address, byAddress } from "../model/address.ts";
import { type Desired, isIgnored } from "../model/desired.ts";
import { fieldRows, rowAt } from "../model/field-schema.ts";
import { defined, type Json, mapped } from "../model/json.ts";
import { type KindRegistry, present, type Reader } from "../model/kind.ts";
import type { KnownObject, Live, Probed } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import {
  isLoginKind,
  isRefusal,
  type NoAnswer,
  type NotProbed,
  type ProbeAnswer,
  type ProbeRequest,
  type Referent,
  sharedBy,
  sharedDatabases,
} from "../model/probe.ts";
import type { Open } from "../model/sealed.ts";
import type { Profile } from "../model/service.ts";
import type { Spec } from "../model/spec.ts";
import type { StateDocument } from "../model/state.ts";
import { filledIn, hostsIn, knownValues, type OutputsOf, parentsIn } from "../model/templates.ts";
import { asTyped, lastApplied, specOf, valuesShown } from "../model/values.ts";
import { forEachItem } from "./poll.ts";

/** The dependencies of asking all declared objects. */
export interface AskContext {
  readonly kinds: KindRegistry;
  readonly readers: ReadonlyMap<string, Reader>;
  readonly state: StateDocument;
  readonly profile: Profile;
  readonly signal: AbortSignal;
  /** The secrets of the run. Without them no running object is asked. */
  readonly open?: Open | undefined;
  /** The reason why the run asks no running object, if it was told so. */
  readonly unasked?: string | undefined;
}

/** An object that is asked, with its declared values. */
export type Asked = Pick<Step, "address" | "kind" | "place" | "spec">;

/** The facts beside an object that a question needs. */
export interface Surroundings {
  readonly kinds: KindRegistry;
  readonly open: Open;
  /** The state that the plan is made from. */
  readonly state: StateDocument;
  readonly outputsOf: OutputsOf;
  /** The values of an object that others are found through, secrets sealed. */
  readonly hostSpec: (address: string) => Spec;
  /** The names of all objects that show an endpoint. */
  readonly namesAt: (endpoint: Json) => readonly string[];
}

/** An answer, and the values that it shows. */
export type Answer = ProbeAnswer & { readonly probed?: Probed };

/** Asks once. */
export async function askObject(
  asked: Asked,
  live: Live,
  probe: NonNullable<Reader["probe"]>,
  around: Surroundings,
  signal: AbortSignal,
): Promise<Answer> {
  const request = requestTo(asked, live, around);
  const answer = "is" in request ? request : await probe(request, signal);
  if (answer.is === "not-asked" || answer.is === "unanswered") return answer;
  const declared = filledIn(asked.spec ?? {}, around.outputsOf);
  const applied = lastApplied(around.state, asked.kind, { ...asked, id: live.id });
  const others = [specOf(live), applied];
  const values = valuesShown(around.kinds.named(asked.kind).schema, answer, declared, others);
  const engine = answer.is === "answered" ? answer.engine : undefined;
  return { ...answer, probed: { values, ...defined({ engine }) } };
}

/** The request to a running object, secrets opened; an answer in its place if another object shows its address, or that of a host. */
export function requestTo(asked: Asked, live: Live, around: Surroundings): ProbeRequest | NoAnswer {
  const { kinds, open, outputsOf, hostSpec, namesAt } = around;
  const known = (spec: Spec): Spec => knownValues(spec, open, outputsOf);
  const hosts = hostsIn(kinds.named(asked.kind).schema, asked.spec ?? {}).flatMap(({ path, address }) => {
    const outputs = outputsOf(address);
    return outputs === undefined ? [] : [{ path, address, outputs }];
  });
  for (const { address, outputs } of [{ ...asked, outputs: live.outputs }, ...hosts]) {
    const { endpoint } = outputs;
    const there = endpoint === undefined ? [] : namesAt(endpoint);
    const others = there.filter((name) => outputsOf(name)?.["id"] !== outputs["id"]);
    const names = [...new Set([address, ...others])];
    if (names.length > 1)
      return sharedBy(names, (all) => `${all} show one address: whose database answers there`);
  }
  const referents = hosts.map(({ path, address, outputs }): [string, Referent] => [
    path,
    { outputs, spec: known(hostSpec(address)) },
  ]);
  return { live, spec: known(asItIs(asked, live, around)), referents: Object.fromEntries(referents) };
}

/** The declared values. Fields that are fixed at creation have the values of the object: its database is reached with the user and the TLS that it was made with. */
function asItIs(asked: Asked, live: Live, around: Pick<Surroundings, "kinds" | "state">): Spec {
  const applied = lastApplied(around.state, asked.kind, { ...asked, id: live.id });
  const rows = fieldRows(around.kinds.named(asked.kind).schema);
  return mapped(asked.spec ?? {}, (value, path) => {
    const { "x-create-only": isFixed, "x-reference": reference, "x-probe": probe } = rowAt(rows, path);
    if (!isFixed || reference !== undefined) return value;
    const made = [live.spec[path]?.value, applied[path]].filter((known) => known !== undefined);
    const isTls = probe !== undefined && "connection" in probe && probe.connection === "tls";
    // If the service, in whatever spelling, or the state says that it was made with TLS, no login goes out in clear.
    return (
      (isTls ? made.find((known) => asTyped(known, "boolean") !== false) : undefined) ?? made[0] ?? value
    );
  });
}

/**
 * Asks all declared objects among these whose kind can be asked, once the service has shown all of them: two that show one address are not
 * asked. Resolves once each has answered or run out of its time. Without the secrets of the run nothing is asked.
 */
export async function askObjects(
  declared: ReadonlyMap<Address, Desired>,
  shown: Iterable<readonly [KnownObject, Live]>,
  context: AskContext,
): Promise<ReadonlyMap<Address, Answer>> {
  const { open, signal, unasked, kinds, state } = context;
  const there = new Map(
    [...shown]
      .filter(([, live]) => live.phase.is !== "gone")
      .map(([{ address, kind, ref }, live]) => [address || `${kind} ${ref.id}`, { place: ref.place, live }]),
  );
  const asked = [...declared.values()].flatMap((wanted) => {
    const found = there.get(wanted.address);
    const { probe } = present(context.readers.get(wanted.kind), wanted.kind);
    return found === undefined || probe === undefined ? [] : [{ ...wanted, ...found, probe }];
  });
  if (unasked !== undefined)
    return new Map(asked.map(({ address }) => [address, { is: "not-asked", reason: unasked }]));
  if (open === undefined) return new Map();
  const byEndpoint = Map.groupBy(there.keys(), (name) => there.get(name)?.live.outputs["endpoint"]);
  const around: Surroundings = {
    kinds,
    open,
    state,
    outputsOf: (address) => there.get(address)?.live.outputs,
    namesAt: (endpoint) => byEndpoint.get(endpoint) ?? [],
    hostSpec: (address) => {
      const [host, wanted] = [there.get(address), declared.get(address)];
      if (host === undefined) return {};
      const values = wanted && asItIs({ ...wanted, ...host }, host.live, context);
      return { ...specOf(host.live), ...values };
    },
  };

  const ask = async (one: (typeof asked)[number]): Promise<Answer> => {
    const { address, kind, spec, live, probe } = one;
    const reason = whyNotAsked(live, address, context);
    if (reason !== undefined) return { is: "not-asked", reason };
    const { schema } = kinds.named(kind);
    for (const { address: host, section } of hostsIn(schema, spec)) {
      const { id, phase } = there.get(host)?.live ?? {};
      if (phase === undefined)
        return { is: "unanswered", reason: `its ${kinds.named(section).noun} could not be read` };
      if (phase.is !== "ready") return { is: "not-asked", reason: notRunning };
      if (parentsIn(schema, one.place).some((parent) => parent.kind === section && parent.id !== id))
        return { is: "not-asked", reason: `it is not in ${host} yet` };
    }
    return askObject(one, live, probe, around, signal);
  };

  // Those that do not answer run out of their time together.
  const found = new Map(await forEachItem(asked, async (one) => [one.address, await ask(one)] as const));
  return new Map([...found, ...sharedDatabases(found, (name) => around.outputsOf(name)?.["id"])]);
}

const notRunning = "not running";

/** The reason why an object is not asked at all; undefined if it is. */
function whyNotAsked(live: Live, address: Address, context: AskContext): string | undefined {
  const isChanging = context.state.resources[address]?.converging !== undefined;
  if (live.phase.is === "pending" || isChanging) return "an operation is still running";
  if (live.phase.is !== "ready") return notRunning;
  return context.profile.timing.endpoint === 0 ? "no database of this service can be reached" : undefined;
}

/** The objects that were not asked or refused to answer, with the reason and the way out, in the order of their addresses. */
export function reasonsNotProbed(
  answers: ReadonlyMap<Address, ProbeAnswer>,
  declared: ReadonlyMap<Address, Desired>,
  { kinds }: Pick<AskContext, "kinds">,
): readonly NotProbed[] {
  const reasons = [...declared.values()].flatMap(({ address, kind, lifecycle }): NotProbed[] => {
    const answer = answers.get(address);
    const reason = answer?.is === "answered" ? answer.denied : answer?.reason;
    if (answer === undefined || reason === undefined) return [];
    const isLeft = answer.is === "refused" && isIgnored(answer.path, lifecycle.ignoreChanges);
    const wayOut = isLeft ? remedyForLeft : answer.is === "answered" ? remedyForDenied : answer.wayOut;
    const isLogin = isLoginKind(kinds.named(kind).schema);
    // A refused login shows all that there is to see of a user, and nothing of the settings of a database.
    const isKnown = answer.is === "not-asked" || (answer.is === "refused" && isLogin);
    return [
      {
        address,
        reason,
        ...defined({ wayOut }),
        ...(isKnown ? {} : { failed: true }),
        ...(isRefusal(answer) ? { refused: true } : {}),
        ...(isLogin ? { login: true } : {}),
      },
    ];
  });
  return reasons.sort(byAddress);
}

const remedyForLeft = "ignoreChanges leaves it as it is: put the password that is in force into its secret";
const remedyForDenied = "allow its user these commands, or look without them: --no-probe";
