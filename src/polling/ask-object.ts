/** @module Asks a running object once, with the values that it has; never if another object shows its address. */

import { valuesShown } from "../model/compare.ts";
import { fieldRows, rowAt } from "../model/field-schema.ts";
import { defined, type Json, mapped } from "../model/json.ts";
import type { KindRegistry, Reader } from "../model/kind.ts";
import { lastApplied } from "../model/last-applied.ts";
import type { Live, Probed } from "../model/observed.ts";
import type { Step } from "../model/plan.ts";
import {
  type NoAnswer,
  type ProbeAnswer,
  type ProbeRequest,
  type Referent,
  sharedBy,
} from "../model/probe.ts";
import type { Open } from "../model/sealed.ts";
import type { Spec } from "../model/spec.ts";
import type { StateDocument } from "../model/state.ts";
import { filledIn, hostsIn, knownValues, type OutputsOf } from "../model/templates.ts";

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
  const others = [mapped(live.spec, ({ value }) => value), applied];
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
    const names = endpoint === undefined ? [] : [...new Set([address, ...namesAt(endpoint)])];
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
export function asItIs(asked: Asked, live: Live, around: Pick<Surroundings, "kinds" | "state">): Spec {
  const applied = lastApplied(around.state, asked.kind, { ...asked, id: live.id });
  const rows = fieldRows(around.kinds.named(asked.kind).schema);
  return mapped(asked.spec ?? {}, (value, path) => {
    const { "x-create-only": isFixed, "x-reference": reference } = rowAt(rows, path);
    return isFixed && reference === undefined ? (live.spec[path]?.value ?? applied[path] ?? value) : value;
  });
}
