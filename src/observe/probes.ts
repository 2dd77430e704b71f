/** @module Asks running objects themselves once the service has shown all of them, and says which were not, and why. */

import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { defined, mapped } from "../model/json.ts";
import type { Live } from "../model/observed.ts";
import { isLoginKind, isRefusal, type NotProbed, type ProbeAnswer, sharedDatabases } from "../model/probe.ts";
import { hostsIn } from "../model/templates.ts";
import { type Answer, asItIs, askObject, type Surroundings } from "../polling/ask-object.ts";
import { forEachItem, type KnownObject, type ObserveContext, readerOf } from "./observe-context.ts";

/**
 * Asks all declared objects among these whose kind can be asked, once the service has shown all of them: two that show one address are not
 * asked. Resolves once each has answered or run out of its time. Without the secrets of the run nothing is asked.
 */
export async function askObjects(
  declared: ReadonlyMap<Address, Desired>,
  shown: Iterable<readonly [KnownObject, Live]>,
  context: ObserveContext,
): Promise<ReadonlyMap<Address, Answer>> {
  const { open, signal, unasked, kinds, state } = context;
  const there = new Map(
    [...shown]
      .filter(([, live]) => live.phase.is !== "gone")
      .map(([{ address, kind, ref }, live]) => [address || `${kind} ${ref.id}`, { place: ref.place, live }]),
  );
  const asked = [...declared.values()].flatMap((wanted) => {
    const [found, { probe }] = [there.get(wanted.address), readerOf(wanted.kind, context)];
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
      return { ...mapped(host.live.spec, ({ value }) => value), ...values };
    },
  };

  const ask = async (one: (typeof asked)[number]): Promise<Answer> => {
    const { address, kind, spec, live, probe } = one;
    const reason = whyNotAsked(live, address, context);
    if (reason !== undefined) return { is: "not-asked", reason };
    for (const host of hostsIn(kinds.named(kind).schema, spec)) {
      const phase = there.get(host.address)?.live.phase.is;
      if (phase === undefined)
        return { is: "unanswered", reason: `its ${kinds.named(host.section).noun} could not be read` };
      if (phase !== "ready") return { is: "not-asked", reason: notRunning };
    }
    return askObject(one, live, probe, around, signal);
  };

  // Those that do not answer run out of their time together.
  const found = new Map(await forEachItem(asked, async (one) => [one.address, await ask(one)] as const));
  return new Map([...found, ...sharedDatabases(found)]);
}

const notRunning = "not running";

/** The reason why an object is not asked at all; undefined if it is. */
function whyNotAsked(live: Live, address: Address, context: ObserveContext): string | undefined {
  const isChanging = context.state.resources[address]?.converging !== undefined;
  if (live.phase.is === "pending" || isChanging) return "an operation is still running";
  if (live.phase.is !== "ready") return notRunning;
  return context.profile.timing.endpoint === 0 ? "no database of this service can be reached" : undefined;
}

/** The objects that were not asked or refused to answer, with the reason and the way out, in the order of their addresses. */
export function reasonsNotProbed(
  answers: ReadonlyMap<Address, ProbeAnswer>,
  declared: ReadonlyMap<Address, Desired>,
  { kinds }: Pick<ObserveContext, "kinds">,
): readonly NotProbed[] {
  const reasons = [...declared.values()].flatMap(({ address, kind }): NotProbed[] => {
    const answer = answers.get(address);
    const reason = answer?.is === "answered" ? answer.denied : answer?.reason;
    if (answer === undefined || reason === undefined) return [];
    const isLogin = isLoginKind(kinds.named(kind).schema);
    // A refused login shows all that there is to see of a user, and nothing of the settings of a database.
    const isKnown = answer.is === "not-asked" || (answer.is === "refused" && isLogin);
    return [
      {
        ...{
          address,
          reason,
          ...defined({ wayOut: answer.is === "answered" ? remedyForDenied : answer.wayOut }),
        },
        ...(isKnown ? {} : { failed: true }),
        ...(isRefusal(answer) ? { refused: true } : {}),
        ...(isLogin ? { login: true } : {}),
      },
    ];
  });
  return reasons.sort((a, b) => (a.address < b.address ? -1 : 1));
}

const remedyForDenied = "allow its user these commands, or look without them: --no-probe";
