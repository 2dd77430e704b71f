import { createHash } from "node:crypto";
import type { Desired, Lifecycle, Timeouts } from "../../src/model/desired.ts";
import type { SourceRange } from "../../src/model/errors.ts";
import { defined, type Json, type JsonObject } from "../../src/model/json.ts";
import { type Kind, kindRegistry } from "../../src/model/kind.ts";
import type { Move, Removal } from "../../src/model/manifest.ts";
import type { Observed, PhaseName, Seen, Source } from "../../src/model/observed.ts";
import type { Action, Change, Plan, PlanOptions } from "../../src/model/plan.ts";
import { flatten } from "../../src/model/spec.ts";
import type { Bound, Converging, StateDocument } from "../../src/model/state.ts";
import { overlay } from "../../src/model/values.ts";
import { makePlan } from "../../src/plan/make-plan.ts";
import { afterMoves } from "../../src/plan/moves.ts";
import type { PlanInput } from "../../src/plan/subjects.ts";
import { toyKind, toyProfile } from "./toy-kind.ts";

/** All that a plan may know of one resource. What is left out is the common case: declared, bound and ready. */
export interface Case {
  /** The desired spec; left out: not declared. */
  readonly wants?: JsonObject;
  /** What the service shows; left out: nothing is there. */
  readonly has?: JsonObject;
  /** The source of what it shows. Default: described. */
  readonly source?: Source;
  readonly phase?: PhaseName;
  /** Last applied values; left out: bound where it `has` something, with what it has. `false`: not bound. */
  readonly recorded?: { readonly [path: string]: Json } | false;
  readonly refs?: readonly string[];
  /** What the state remembers to be referred to. Default: `refs`. */
  readonly boundRefs?: readonly string[];
  readonly lifecycle?: Partial<Lifecycle>;
  readonly timeouts?: Timeouts;
  readonly remembered?: Partial<Pick<Bound, "protect" | "onDelete">>;
  readonly converging?: Converging;
  readonly importId?: string;
  /** Id of the object. Default: made of the name. */
  readonly id?: string;
  /** Its place. Default: the one that there is. */
  readonly place?: JsonObject;
}

/** Name of a toy -> its case. A name with a dot is an address of another section. */
export type Scene = { readonly [name: string]: Case };

export type Rest = Partial<Omit<PlanInput, "options">> & {
  readonly options?: Partial<PlanOptions>;
  readonly serial?: number;
};

export const somewhere: SourceRange = {
  file: "graphform.yaml",
  start: { line: 7, column: 3 },
  end: { line: 7, column: 9 },
};

/** The input of a plan over a scene. */
export function planInput(scene: Scene, rest: Rest = {}): PlanInput {
  const { options, serial = 3, ...over } = rest;
  const cases = Object.entries(scene).map(([name, entry]): [string, Case] => [addressOf(name), entry]);
  const { kinds = kindRegistry([toyKind()]), moved = [] } = over;
  const state = stateOf(cases, serial);
  const { resources } = afterMoves(state, moved, kinds);
  return {
    name: "shop",
    timestamp: "2026-01-01T00:00:00.000Z",
    desired: cases.flatMap(([address, entry]) => desiredOf(address, entry)),
    state,
    observed: new Map(cases.flatMap(([address, entry]) => observedOf(address, entry, resources[address]))),
    unmanaged: [],
    kinds,
    profile: toyProfile,
    guards: {},
    moved,
    removed: [],
    outputs: {},
    destroying: false,
    digest: (text) => createHash("sha256").update(text).digest("hex"),
    ...over,
    remembered: (over.state ?? state).resources,
    options: { targets: [], exclude: [], replace: [], allowDestroy: [], ...options },
  };
}

/** The plan of a scene. */
export function planOf(scene: Scene, rest: Rest = {}): Plan {
  return makePlan(planInput(scene, rest));
}

/** A plan in short: name -> action, with `!` and the codes of its guards where it is blocked. */
export function actions(plan: Plan): { readonly [name: string]: string } {
  return Object.fromEntries(plan.changes.map((change) => [nameOf(change.address), inShort(change)]));
}

function inShort(change: Change): Action | string {
  return [change.action, ...change.blocked.map((guard) => `!${guard.code}`)].join(" ");
}

/** The change of one toy. Throws where the plan says nothing of it. */
export function changeOf(plan: Plan, name: string): Change {
  const found = plan.changes.find((change) => change.address === addressOf(name));
  if (found === undefined) throw new Error(`the plan does not speak of ${name}`);
  return found;
}

/** The steps in short, `key < everything that comes first`, without the section. */
export function stepsOf(plan: Plan): readonly string[] {
  return plan.steps.map((step) => {
    const what = `${nameOf(step.address)} ${step.verb ?? step.operation}`;
    const before = step.after.map(nameOf).join(", ");
    return before === "" ? what : `${what} < ${before}`;
  });
}

export function addressOf(name: string): string {
  return name.includes(".") ? name : `toys.${name}`;
}

export function moveOf(from: string, to: string): Move {
  return { from: addressOf(from), to: addressOf(to), where: somewhere };
}

export function removalOf(name: string, destroy: boolean, over: Partial<Removal> = {}): Removal {
  return { address: addressOf(name), destroy, where: somewhere, ...over };
}

/** A kind like toys, under another name. */
export function kindLike(name: string, over: Partial<Kind> = {}): Kind {
  return toyKind(undefined, { name, ...over });
}

function nameOf(address: string): string {
  return address.replace(/^toys\./, "");
}

function desiredOf(address: string, entry: Case): readonly Desired[] {
  if (entry.wants === undefined) return [];
  const lifecycle: Lifecycle = {
    onReplace: "recreate",
    onDelete: "delete",
    ignoreChanges: [],
    dependsOn: [],
    ...entry.lifecycle,
  };
  return [
    {
      address,
      kind: kindOf(address),
      spec: flatten(entry.wants),
      refs: (entry.refs ?? []).map(addressOf),
      where: () => somewhere,
      lifecycle,
      timeouts: entry.timeouts ?? {},
      ...defined({ importId: entry.importId }),
    },
  ];
}

function stateOf(cases: readonly (readonly [string, Case])[], serial: number): StateDocument {
  const resources = Object.fromEntries(cases.flatMap(([address, entry]) => boundOf(address, entry)));
  return {
    version: 2,
    name: "shop",
    lineage: "lineage-1",
    serial,
    key: "00".repeat(32),
    savedAt: "2026-01-01T00:00:00.000Z",
    resources,
    intents: {},
    rounds: {},
    appliedPlans: [],
    outputs: {},
  };
}

function boundOf(address: string, entry: Case): readonly [string, Bound][] {
  const recorded = entry.recorded ?? (entry.has === undefined ? false : flatten(entry.has));
  if (recorded === false) return [];
  const bound: Bound = {
    kind: kindOf(address),
    id: entry.id ?? idOf(address),
    place: entry.place ?? {},
    recorded,
    protect: entry.lifecycle?.protect ?? false,
    onDelete: entry.lifecycle?.onDelete ?? "delete",
    refs: (entry.boundRefs ?? entry.refs ?? []).map(addressOf),
    createdAt: "2025-12-01T00:00:00.000Z",
    ...defined({ converging: entry.converging }),
    ...entry.remembered,
  };
  return [[address, bound]];
}

function observedOf(address: string, entry: Case, bound: Bound | undefined): readonly [string, Observed][] {
  if (entry.has === undefined) return [];
  const { phase = "ready", source = "described" } = entry;
  const power = { ready: "running", stopped: "stopped", failed: "failed" }[String(phase)];
  const shown = Object.entries(flatten(entry.has)).map(([path, value]): [string, Seen] => [
    path,
    { value, source },
  ]);
  const shownPower: { readonly [path: string]: Seen } =
    power === undefined ? {} : { power: { value: power, source: "described" } };
  const id = entry.id ?? entry.importId ?? idOf(address);
  return [
    [
      address,
      {
        address,
        kind: kindOf(address),
        id,
        place: entry.place ?? {},
        phase: { is: phase, detail: phase.toUpperCase() },
        spec: overlay({ ...shownPower, ...Object.fromEntries(shown) }, bound, phase),
        outputs: { id, ...(phase === "ready" ? { endpoint: `${id}:6379` } : {}) },
      },
    ],
  ];
}

function kindOf(address: string): string {
  return address.slice(0, address.indexOf("."));
}

function idOf(address: string): string {
  return `id-${nameOf(address)}`;
}
