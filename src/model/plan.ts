/** @module Defines the plan: changes, steps and guards as data. */
import type { Address } from "./address.ts";
import type { SourceRange } from "./errors.ts";
import type { Disruption } from "./field-schema.ts";
import { defined, type Json, type JsonObject } from "./json.ts";
import type { MigrationTerms } from "./migration.ts";
import type { Phase, Source } from "./observed.ts";
import type { NotProbed } from "./probe.ts";
import type { ServiceIdentity } from "./service-identity.ts";
import { flatten, nest, type Spec } from "./spec.ts";
import type { Bound } from "./state.ts";

export type Action =
  | "create"
  | "update"
  | "replace"
  | "migrate"
  | "delete"
  | "adopt"
  | "move"
  | "forget"
  | "keep";

export type Effect = "in-place" | "replace";

/** One field that differs. `before` is absent if the live value is unknown, `after` if the field is released. */
export interface FieldChange<Value = Json> {
  readonly path: string;
  readonly before?: Value;
  readonly after?: Value;
  /** Source of `before`. */
  readonly source?: Source;
  readonly effect: Effect;
  readonly disruption: Disruption;
  /** Print neither value. */
  readonly secret: boolean;
  /** Set in the running object itself: the service has no part in it. */
  readonly via?: "database";
  /** Drift: the source of `after`. */
  readonly shownBy?: Source;
  /** Drift: the remedy, if apply leaves it as it is. */
  readonly wayOut?: string;
}

/** The reason why a step is not carried out, and the remedy. */
export interface Guard {
  /** protect, on-replace, max-deletes, in-doubt, ...: `guardRules` in `report/sarif/findings.ts` has all of them. */
  readonly code: string;
  readonly message: string;
  /** The remedy; the name is that of saved plans. */
  readonly lift: string;
}

/** The reason for which the object of an open create is not known, and the ways on. */
export type CreateDoubt = Pick<Guard, "message" | "lift">;

/** Existing objects that may be what a create is about to make. */
export interface MayBe {
  /** marked: it has the mark of the address. named: it has the declared name. alike: the service shows no names, and the state is lost. */
  readonly is: "marked" | "named" | "alike";
  /** At most three. */
  readonly ids: readonly string[];
  /** Number of all. */
  readonly count: number;
}

export interface Change<Value = Json> {
  readonly action: Action;
  readonly address: Address;
  readonly previousAddress?: Address;
  readonly kind: string;
  readonly id?: string;
  /** One line for people; it never steers apply. */
  readonly reason: string;
  readonly fields: readonly FieldChange<Value>[];
  /** The field that forces a replacement, first of them. */
  readonly forcedBy?: string;
  readonly disruption: Disruption;
  readonly where?: SourceRange;
  /** Addresses that the manifest refers to here. Absent if there are none. */
  readonly refs?: readonly Address[];
  readonly phase?: Phase;
  /** The remedies for an object that has failed and stays; the name is that of saved plans. */
  readonly waysOn?: string;
  /** Whole spec before and after, secrets sealed. */
  readonly before?: Spec<Value>;
  readonly after?: Spec<Value>;
  /** create: existing objects that may be this one. */
  readonly mayBe?: MayBe;
  /** A backup is complete before anything is deleted. */
  readonly backupFirst?: boolean;
  /** The bound object was proved absent although graphform did not delete it. `before` is what was last applied. */
  readonly gone?: true;
  readonly blocked: readonly Guard[];
  /** Changes made outside of graphform: deleted, stopped, a field drifted. */
  readonly drift: readonly FieldChange<Value>[];
}

/** `heal` sets values in the running object itself, `migrate` moves its data. `wait` sends nothing; `bind`, `forget` and `move` only write the state. */
export type Operation =
  | "create"
  | "update"
  | "migrate"
  | "heal"
  | "delete"
  | "operate"
  | "backup"
  | "bind"
  | "forget"
  | "wait"
  | "move";

/** One thing that apply does. Everything that it needs stands here; secrets are sealed. */
export interface Step<Value = Json> extends Partial<Pick<Bound, "protect" | "onDelete" | "refs">> {
  /** Unique in the plan: `instances.orders`, or `instances.orders#delete` if an address has several. */
  readonly key: string;
  readonly operation: Operation;
  /** The verb, if the operation is `operate`; the part, if it is `migrate`. */
  readonly verb?: string;
  /** migrate: everything that it needs beside the objects. */
  readonly migration?: MigrationTerms;
  /** operate: parameters of the verb. */
  readonly choices?: { readonly [name: string]: string };
  /** operate: done as soon as the service has accepted it; a later run goes on waiting. */
  readonly unattended?: boolean;
  readonly address: Address;
  readonly kind: string;
  readonly id?: string;
  readonly place: JsonObject;
  /** The whole desired spec, if there is one. */
  readonly spec?: Spec<Value>;
  /** update, heal: the changed fields alone. */
  readonly patch?: Spec<Value>;
  /** Paths of the observed values that this decision used; `precondition` is their digest. */
  readonly checks: readonly string[];
  /** Those of `checks` that the running object has shown: it is asked again before the write. */
  readonly probed?: readonly string[];
  /** move: the address that it had. */
  readonly from?: Address;
  /** create: values that the service sets by itself, recorded with the spec. */
  readonly record?: Spec<Value>;
  /** forget: the object was proved absent. */
  readonly gone?: true;
  /** delete and its backup: the guards of the object that the state remembered when the plan was made. */
  readonly remembered?: Pick<Bound, "protect" | "onDelete">;
  /** Keys of the steps that come first. */
  readonly after: readonly string[];
  /** Digest of the observed values that this decision used. */
  readonly precondition: string;
  /** Longest wait in ms. */
  readonly timeout?: number;
  readonly blocked: readonly Guard[];
}

/** Numbers of resources and fields that were checked. */
export interface Census {
  readonly declared: number;
  readonly checked: number;
  readonly skipped: number;
  readonly unmanaged: number;
  readonly fields: { readonly [source in Source]: number };
  /** Running databases that were asked themselves; absent if the run could ask none. */
  readonly probed?: number;
  /** Declared logins of users that were tried; in plans that were saved before it was known they are among `probed`. */
  readonly logins?: number;
  /** Declared objects that were not asked, or refused to answer. */
  readonly notProbed?: readonly NotProbed[];
  /** Version of the engine -> number of databases. */
  readonly engines?: { readonly [version: string]: number };
  /** Lists of which the service shows a part only: "instances of pro single-zone". Absent if there are none. */
  readonly partialLists?: readonly string[];
}

export interface Forecast {
  readonly restarts: number;
  readonly replacements: number;
  readonly seconds: number;
  /** The chain of steps that takes these seconds, in its order. Absent in plans that were saved before it was known. */
  readonly path?: readonly ForecastStep[];
}

/** One step of the chain that takes longest. */
export interface ForecastStep extends Pick<Step, "address" | "operation" | "verb"> {
  readonly seconds: number;
  /** Seconds from the begin of the apply. */
  readonly start: number;
}

export interface OutputChange<Value = Json> {
  readonly action: "create" | "update" | "delete" | "no-op";
  readonly before?: Value;
  readonly after?: Value;
  /** True if the value is known only after apply. */
  readonly unknown: boolean;
  /** The reason for which it has no value although no step changes it. */
  readonly missing?: string;
  readonly sensitive: boolean;
}

/** Options of the command line beside the manifest. Addresses may be patterns: see `resolveAddressOptions`. */
export interface PlanOptions {
  readonly targets: readonly string[];
  readonly exclude: readonly string[];
  /** Replaces these whether or not a field asks for it, and lifts the refusal of their replacement. */
  readonly replace: readonly string[];
  /** Lifts the protection of these, and nothing else. */
  readonly allowDestroy: readonly string[];
  /** Moves the data of these now, if their lifecycle says that it is moved. Default: none. */
  readonly cutover?: readonly string[];
  readonly maxDisruption?: Disruption;
}

/** JSON in, JSON out: apply executes it and nothing else. Reports get one whose values may be shown. */
export interface Plan<Value = Json> {
  readonly version: 1;
  readonly name: string;
  readonly lineage: string;
  readonly serial: number;
  /** The service that it was made for: of a first plan, no state says it yet. */
  readonly service?: Omit<ServiceIdentity, "locations">;
  /** ISO 8601: the newest of its inputs, so that the same input gives the same bytes. */
  readonly timestamp: string;
  readonly changes: readonly Change<Value>[];
  readonly steps: readonly Step<Value>[];
  readonly outputs: { readonly [name: string]: OutputChange<Value> };
  readonly census: Census;
  readonly forecast: Forecast;
  /** False if --target or --exclude left something out, a list was partial, or a running object that was asked did not answer all. */
  readonly complete: boolean;
  /** Digest of everything that the plan does, but secrets. */
  readonly fingerprint: string;
}

type Parts = Pick<Plan, "changes" | "steps">;

/** A plan as it is written down, with nested specs. */
export function nestedPlan<P extends Parts>(plan: P): P {
  return withSpecs(plan, nest);
}

/** A plan that was written down, with flat specs. */
export function flatPlan<P extends Parts>(plan: P): P {
  return withSpecs(plan, flatten);
}

/** The keys keep their order: a plan file is the same, byte for byte, however often it is read and written. */
function withSpecs<P extends Parts>(plan: P, convert: (spec: Spec) => JsonObject): P {
  const nested = (spec: Spec | undefined): JsonObject | undefined => spec && convert(spec);
  const changes = plan.changes.map((change): Change => {
    const { before, after } = change;
    return { ...change, ...defined({ before: nested(before), after: nested(after) }) };
  });
  const steps = plan.steps.map((step): Step => {
    const { spec, patch } = step;
    return { ...step, ...defined({ spec: nested(spec), patch: nested(patch) }) };
  });
  return { ...plan, changes, steps };
}

/** True for a change whose address gets a new object. */
export function makesObject({ action }: Pick<Change, "action">): boolean {
  return action === "create" || action === "replace" || action === "migrate";
}

/** True if the plan changes the service, an output or a binding. */
export function hasChanges(plan: Plan<unknown>): boolean {
  const outputs = Object.values(plan.outputs).some((output) => output.action !== "no-op");
  return outputs || plan.changes.some((change) => change.action !== "keep");
}
