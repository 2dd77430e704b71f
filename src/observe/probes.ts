/** @module Asks running objects themselves once the service has shown all of them, and adds the answers to what it shows. */

import type { Address } from "../model/address.ts";
import { valuesShown } from "../model/compare.ts";
import type { Desired } from "../model/desired.ts";
import { fieldRows, partnersOf } from "../model/field-schema.ts";
import { defined, type Json, mapped } from "../model/json.ts";
import type { Live, Observed } from "../model/observed.ts";
import {
  isLoginKind,
  isRefusal,
  type NotProbed,
  type ProbeAnswer,
  type ProbeRequest,
  type Referent,
  sharedDatabases,
  sharedEndpoints,
} from "../model/probe.ts";
import type { Spec } from "../model/spec.ts";
import { hostsIn, knownValues, waitsFor } from "../model/templates.ts";
import { forEachItem, type Known, type ObserveContext, readerOf } from "./observe-context.ts";

/**
 * Asks all declared objects among these whose kind can be asked, once the service has shown all of them: two that show one address are not
 * asked. Resolves once each has answered or run out of its time. Without the secrets of the run nothing is asked.
 */
export async function askObjects(
  desired: readonly Desired[],
  shown: Iterable<readonly [Known, Live]>,
  context: ObserveContext,
): Promise<ReadonlyMap<Address, ProbeAnswer>> {
  const { open, signal, unasked } = context;
  const declared = new Map(desired.map((entry) => [entry.address, entry]));
  const lives = new Map<Address, Live>();
  const asked: { readonly entry: Known; readonly live: Live; readonly wanted: Desired }[] = [];
  for (const [entry, live] of shown) {
    const { address, kind, ref } = entry;
    if (live.phase.is === "gone") continue;
    lives.set(address === "" ? `${kind} ${ref.id}` : address, live);
    const wanted = declared.get(address);
    if (wanted !== undefined && readerOf(kind, context).probe !== undefined)
      asked.push({ entry, live, wanted });
  }
  if (unasked !== undefined)
    return new Map(asked.map(({ entry }) => [entry.address, { is: "not-asked", reason: unasked }]));
  if (open === undefined) return new Map();
  const shared = sharedEndpoints([...lives].map(([name, { outputs }]) => [name, outputs]));
  const valuesOf = (of: Desired, at: Live): Spec =>
    knownValues(asItIs(of, at, context), open, (address) => lives.get(address)?.outputs);

  const ask = async ({ entry, live, wanted }: (typeof asked)[number]): Promise<ProbeAnswer> => {
    const { address, kind } = entry;
    const reason = whyNotAsked(live, address, context);
    if (reason !== undefined) return { is: "not-asked", reason };
    const spec = valuesOf(wanted, live);
    const referents: Record<string, Referent> = {};
    const hosts = hostsIn(context.kinds.named(kind).schema, spec);
    for (const { path, section, address: host } of hosts) {
      const [parent, wantedParent] = [lives.get(host), declared.get(host)];
      if (parent === undefined)
        return { is: "unanswered", reason: `its ${context.kinds.named(section).noun} could not be read` };
      if (parent.phase.is !== "ready") return { is: "not-asked", reason: notRunning };
      const known = wantedParent === undefined ? {} : valuesOf(wantedParent, parent);
      const values = mapped(parent.spec, ({ value }) => value);
      referents[path] = { outputs: parent.outputs, spec: { ...values, ...known } };
    }
    const names = [address, ...hosts.map((host) => host.address)];
    const trouble = names.map((name) => shared.get(name)).find((answer) => answer !== undefined);
    if (trouble !== undefined) return trouble;
    const request: ProbeRequest = { live, spec, referents };
    const answer = await readerOf(kind, context).probe?.(request, signal);
    return answer ?? { is: "not-asked", reason: notRunning };
  };

  // Those that do not answer run out of their time together.
  const found = new Map(
    await forEachItem(asked, async (one) => [one.entry.address, await ask(one)] as const),
  );
  return new Map([...found, ...sharedDatabases(found)]);
}

const notRunning = "not running";

/** The declared values. Fields that are fixed at creation have the values of the object: its database is reached with the user and the TLS that it was made with. */
function asItIs({ address, kind, spec }: Desired, live: Live, { kinds, state }: ObserveContext): Spec {
  const recorded = state.resources[address]?.recorded ?? {};
  const rows = fieldRows(kinds.named(kind).schema);
  const fixed = Object.keys(spec).flatMap((path): [string, Json][] => {
    const [row, value] = [rows.get(path), live.spec[path]?.value ?? recorded[path]];
    const isFixed = row?.["x-create-only"] === true && row["x-reference"] === undefined;
    return isFixed && value !== undefined ? [[path, value]] : [];
  });
  return { ...spec, ...Object.fromEntries(fixed) };
}

/** The reason why an object is not asked at all; undefined if it is. */
function whyNotAsked(live: Live, address: Address, context: ObserveContext): string | undefined {
  const isChanging = context.state.resources[address]?.converging !== undefined;
  if (live.phase.is === "pending" || isChanging) return "an operation is still running";
  if (live.phase.is !== "ready") return notRunning;
  return context.profile.timing.endpoint === 0 ? "no database of this service can be reached" : undefined;
}

/** An observed object with its answer: declared fields, which are compared, and those that limit what these can be set to. */
export function withAnswer(
  observed: Observed,
  answer: ProbeAnswer | undefined,
  desired: Desired | undefined,
  context: ObserveContext,
): Observed {
  if (answer === undefined || desired === undefined) return observed;
  if (answer.is === "not-asked" || answer.is === "unanswered") return observed;
  const recorded = context.state.resources[observed.address]?.recorded ?? {};
  const { schema } = context.kinds.named(observed.kind);
  const isPartner = (path: string): boolean =>
    partnersOf(path, fieldRows(schema)).some((partner) => desired.spec[partner] !== undefined);
  const knownAt = (path: string): readonly Json[] =>
    desired.spec[path] === undefined
      ? isPartner(path)
        ? [0]
        : []
      : [desired.spec[path], observed.spec[path]?.value, recorded[path]]
          .filter((value) => value !== undefined)
          // A value that waits for an output is spelled in another way than the value that was applied for it.
          .filter((value) => waitsFor(value).length === 0);
  const values = valuesShown(schema, answer, knownAt);
  const engine = answer.is === "answered" && answer.engine !== undefined ? { engine: answer.engine } : {};
  return { ...observed, probed: { values, ...engine } };
}

/** The objects that were not asked or refused to answer, with the reason and the way out, in the order of their addresses. */
export function reasonsNotProbed(
  answers: ReadonlyMap<Address, ProbeAnswer>,
  declared: ReadonlyMap<Address, Desired>,
  { kinds }: Pick<ObserveContext, "kinds">,
): readonly NotProbed[] {
  const isLogin = (address: Address): boolean => {
    const kind = declared.get(address)?.kind;
    return kind !== undefined && isLoginKind(kinds.named(kind).schema);
  };
  return [...answers]
    .flatMap(([address, answer]): NotProbed[] => {
      const reason = answer.is === "answered" ? answer.denied : answer.reason;
      if (reason === undefined) return [];
      const wayOut = answer.is === "answered" ? remedyForDenied : answer.wayOut;
      return [
        {
          address,
          reason,
          ...defined({ wayOut }),
          // A refused login shows all that there is to see of a user, and nothing of the settings of a database.
          ...(answer.is === "not-asked" || (answer.is === "refused" && isLogin(address))
            ? {}
            : { failed: true }),
          ...(isRefusal(answer) ? { refused: true } : {}),
          ...(isLogin(address) ? { login: true } : {}),
        },
      ];
    })
    .sort((a, b) => (a.address < b.address ? -1 : 1));
}

const remedyForDenied = "allow its user these commands, or look without them: --no-probe";
