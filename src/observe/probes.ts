/** @module Asks running objects themselves, each as soon as the service has shown it, beside the reads of all others. */
import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import type { Json } from "../model/json.ts";
import type { Live } from "../model/observed.ts";
import type { ProbeAnswer, ProbeRequest, Referent } from "../model/probe.ts";
import { referenceFields } from "../model/reference-fields.ts";
import { isSealed, isTemplate, type Open } from "../model/sealed.ts";
import { fieldsOf, type Spec } from "../model/spec.ts";
import { resolveKnown, waitsFor } from "../model/templates.ts";
import { type Known, type ObserveContext, readerOf } from "./context.ts";

/** The questions of one observation. */
interface Probes {
  /** Asks an object that the service has just shown, where its kind can be asked and it is declared. */
  begin(entry: Known, live: Live | undefined): void;
  /** Resolves once everything that was begun has answered or run out of its time. */
  answers(): Promise<ReadonlyMap<Address, ProbeAnswer>>;
}

/** Objects that are asked at once: those that do not answer must all run out of their time together. */
const atOnce = 1000;

/** Opens the questions of an observation. Without the secrets of the run nothing is asked. */
export function openProbes(desired: readonly Desired[], context: ObserveContext): Probes {
  const { open, signal, unasked } = context;
  const declared = new Map(desired.map((entry) => [entry.address, entry]));
  const lives = new Map<Address, Live>();
  const asked = new Map<Address, Promise<ProbeAnswer>>();
  const limited = limitConcurrency(atOnce);

  const ask = async (entry: Known, live: Live, wanted: Desired, secrets: Open): Promise<ProbeAnswer> => {
    const reason = whyNotAsked(live, entry, context);
    if (reason !== undefined) return { is: "not-asked", reason };
    const outputsOf = (address: Address): Live["outputs"] | undefined => lives.get(address)?.outputs;
    const spec = openedValues(wanted, secrets, outputsOf);
    const referents: Record<string, Referent> = {};
    const found = referenceFields(context.kinds.named(entry.kind).schema).filter(({ place }) => place);
    for (const { path, section } of found) {
      const address = `${section}.${String(spec[path])}`;
      const [parent, wantedParent] = [lives.get(address), declared.get(address)];
      if (parent === undefined)
        return { is: "unanswered", reason: `its ${context.kinds.named(section).noun} could not be read` };
      if (parent.phase.is !== "ready") return { is: "not-asked", reason: notRunning };
      const known = wantedParent === undefined ? {} : openedValues(wantedParent, secrets, outputsOf);
      referents[path] = { outputs: parent.outputs, spec: { ...shownBy(parent), ...known } };
    }
    const request: ProbeRequest = { live, spec, referents };
    const { probe } = readerOf(entry.kind, context);
    return limited(async () => (await probe?.(request, signal)) ?? { is: "not-asked", reason: notRunning });
  };

  return {
    begin(entry, live) {
      if (live === undefined || live.phase.is === "gone") return;
      lives.set(entry.address, live);
      const wanted = declared.get(entry.address);
      if (wanted === undefined || asked.has(entry.address)) return;
      if (readerOf(entry.kind, context).probe === undefined) return;
      if (unasked !== undefined)
        asked.set(entry.address, Promise.resolve({ is: "not-asked", reason: unasked }));
      if (open === undefined || unasked !== undefined) return;
      const answer = ask(entry, live, wanted, open);
      // An observation that fails for another reason asks for no answers.
      answer.catch(() => undefined);
      asked.set(entry.address, answer);
    },
    async answers() {
      const found = await Promise.all(
        [...asked].map(async ([address, answer]): Promise<[Address, ProbeAnswer]> => [address, await answer]),
      );
      return new Map(found);
    },
  };
}

const notRunning = "not running";

/** The reason why an object is not asked at all; undefined where it is. */
function whyNotAsked(live: Live, { address }: Known, context: ObserveContext): string | undefined {
  const isChanging = context.state.resources[address]?.converging !== undefined;
  if (live.phase.is === "pending" || isChanging) return "an operation is still running";
  if (live.phase.is !== "ready") return notRunning;
  return context.profile.timing.endpoint === 0 ? "its databases are not reachable by any network" : undefined;
}

/** The declared values that are known now, secrets opened. */
function openedValues(
  { spec }: Desired,
  open: Open,
  outputsOf: (address: Address) => Live["outputs"] | undefined,
): Spec {
  const opened = fieldsOf(spec).flatMap(([path, value]): [string, Json][] => {
    const known = openValue(resolveKnown(value, outputsOf), open);
    return known === undefined ? [] : [[path, known]];
  });
  return Object.fromEntries(opened);
}

function openValue(value: Json, open: Open): Json | undefined {
  if (waitsFor(value).length > 0) return undefined;
  if (isSealed(value)) return open(value);
  if (!isTemplate(value)) return value;
  const parts = value.$template.map((part) => (isSealed(part) ? open(part) : part));
  return parts.some((part) => part === undefined) ? undefined : parts.map(String).join("");
}

function shownBy({ spec }: Live): Spec {
  return Object.fromEntries(Object.entries(spec).map(([path, seen]) => [path, seen.value]));
}

/** Runs at most `most` tasks at once, in the order in which they come. */
function limitConcurrency(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await task();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}
