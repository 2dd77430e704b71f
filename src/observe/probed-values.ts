/** @module Adds the answers of running objects to what the service shows of them. */
import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import { defined, type Json } from "../model/json.ts";
import type { Observed } from "../model/observed.ts";
import { isLoginKind, type NotProbed, type ProbeAnswer, valuesShown } from "../model/probe-reading.ts";
import { isRefusal } from "../model/probe-troubles.ts";
import { waitsFor } from "../model/templates.ts";
import { partnersOf, traitsOf } from "../model/traits.ts";
import type { ObserveContext } from "./context.ts";

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
    partnersOf(path, traitsOf(schema)).some((partner) => desired.spec[partner.path] !== undefined);
  const knownAt = (path: string): readonly Json[] =>
    desired.spec[path] === undefined
      ? isPartner(path)
        ? [0]
        : []
      : [desired.spec[path], observed.spec[path]?.value, recorded[path]]
          .filter((value) => value !== undefined)
          // What waits for an output is spelled in another way than what was applied of it.
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
