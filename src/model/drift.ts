/** @module Defines the report of drift: what differs from the last apply, since when, by whom, and whether apply restores it. */
import type { Address } from "./address.ts";
import type { SourceRange } from "./errors.ts";
import type { Disruption } from "./field-schema.ts";
import type { Json } from "./json.ts";
import type { Source } from "./observed.ts";
import type { Census, Change, Effect, Plan } from "./plan.ts";

/**
 * Classes of a difference, the worst first. `outside`: the world has changed, which is drift that matters. `ours`: the manifest has
 * changed, or a change of graphform's own is not finished. `cosmetic`: nothing that matters has changed.
 */
export const driftClasses = ["outside", "ours", "cosmetic"] as const;
export type DriftClass = (typeof driftClasses)[number];

/** Things that have happened to a resource, the worst first. `unapplied` stands for changes of class `ours`, `unimportant` for cosmetic ones. */
export const happenings = [
  "deleted",
  "failed",
  "stopped",
  "started",
  "changed",
  "renamed",
  "unapplied",
  "unimportant",
] as const;
export type Happening = (typeof happenings)[number];

/** One field that differs. A value is absent if there is none, or if it is not known. */
export interface FieldDrift<Value = Json> {
  readonly path: string;
  readonly class: DriftClass;
  /** One line for people. */
  readonly reason: string;
  readonly applied?: Value;
  readonly seen?: Value;
  /** Source of `seen`. */
  readonly source?: Source;
  readonly declared?: Value;
  /** Print none of the values. */
  readonly secret: boolean;
  /** Set by hand in the running object, and fixed at creation: the manifest cannot follow it without a replacement. */
  readonly fixed?: true;
  /** The way to put the declared value back; absent if apply changes nothing. */
  readonly remedy?: { readonly effect: Effect; readonly disruption: Disruption };
  /** The place in the manifest that declares it, or the nearest one. */
  readonly where?: SourceRange;
}

/** An entry of the service's audit log since the resource was last seen right. */
export interface AuditEvent {
  /** ISO 8601, by the service's clock. */
  readonly time: string;
  readonly message: string;
  /** Absent if the service did it by itself, or does not say. */
  readonly user?: string;
}

export interface ResourceDrift<Value = Json>
  extends Pick<Change, "address" | "kind" | "id" | "reason" | "phase" | "waysOn" | "where"> {
  /** Worst class of its differences. */
  readonly class: DriftClass;
  readonly what: Happening;
  /** ISO 8601: when the last apply saw it as it should be. */
  readonly since?: string;
  /** Fields that differ, the worst class first, then by path. */
  readonly fields: readonly FieldDrift<Value>[];
  /** Newest first; empty if the service shows none. */
  readonly events: readonly AuditEvent[];
}

/** One resource that was looked at, and in which nothing differs. */
export type Unchanged = Pick<ResourceDrift, "address" | "kind" | "id" | "where">;

/** An object at the service that no address is bound to. */
export interface UnmanagedDrift {
  readonly kind: string;
  readonly id: string;
  /** Its name, if the service was asked for it. */
  readonly name?: string;
}

/** An output whose value is another one than at the last apply. Always cosmetic: its readers get the new value. */
export interface OutputDrift<Value = Json> {
  readonly name: string;
  readonly sensitive: boolean;
  readonly applied?: Value;
  readonly seen?: Value;
}

/** A declared resource that a report is not sure of. */
export interface NotChecked {
  readonly address: Address;
  /** One line for people. */
  readonly reason: string;
  /** It was to be read, and could not be: this report proves nothing about it. */
  readonly failed?: true;
}

/** The denominator of a report: the resources that were checked, and how. */
export interface DriftCensus extends Census {
  /** Resources that were not looked at, or that the service does not show, by address. */
  readonly notChecked: readonly NotChecked[];
  /** Resources whose operation is still running, by address: their values may still change. */
  readonly unfinished: readonly NotChecked[];
}

/** Differences from the last apply: JSON, secrets sealed. Reports get one whose values may be shown. */
export interface DriftReport<Value = Json> extends Pick<Plan, "version" | "name" | "timestamp"> {
  /** Worst first, then by address; resources without any difference are left out. */
  readonly resources: readonly ResourceDrift<Value>[];
  /** The others that were looked at, by address; those of `notChecked` are not among them. */
  readonly unchanged: readonly Unchanged[];
  readonly outputs: readonly OutputDrift<Value>[];
  /** Unmanaged objects; absent if they were not asked for. */
  readonly unmanaged?: readonly UnmanagedDrift[];
  readonly census: DriftCensus;
  /** The first field that `--adopt` can write into the manifest; false if there is none, absent if that was not tried. */
  readonly adoptable?: false | { readonly address: Address; readonly path: string };
  /** False if something was left out, could not be read, or did not answer. */
  readonly complete: boolean;
}

/** Counts resources that could not be read: the report proves nothing about them. */
export function countUnread({ notChecked }: Pick<DriftCensus, "notChecked">): number {
  return notChecked.filter(({ failed }) => failed === true).length;
}

/** True for drift that matters: a resource was changed outside, or unmanaged objects were asked for and found. */
export function hasDrift({ resources, unmanaged = [] }: DriftReport<unknown>): boolean {
  return unmanaged.length > 0 || resources.some((resource) => resource.class === "outside");
}
