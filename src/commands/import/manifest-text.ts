/** @module Formats declared objects as a manifest in YAML. */

import { isGraphformError } from "../../model/errors.ts";
import { isObject, type Json, type JsonObject } from "../../model/json.ts";
import type { LeftOut } from "../../model/kind.ts";
import type { ServiceSection } from "../../model/manifest.ts";
import type { ServiceIdentity } from "../../model/service-identity.ts";
import { nest } from "../../model/spec.ts";
import type { Connection } from "../../project/connect.ts";
import { schemaLine } from "../../project/package-files.ts";
import { escapeText } from "../../report/escape.ts";
import { importEntry, yamlScalar } from "../../report/import-lines.ts";
import type { DeclaredObject } from "./declare-objects.ts";
import type { Found } from "./read-places.ts";

/** Parts of a written manifest besides its resources. */
export interface ManifestParts {
  readonly name: string;
  /** Objects that were not read, with the reason. */
  readonly unread: readonly LeftOut[];
  /** Absent for the local platform. */
  readonly service?: ServiceSection;
  /** The section that says where the state is, as an earlier manifest has it. */
  readonly state?: JsonObject;
  /** Address of each object that becomes a comment -> the reason. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** Address of a declared object. */
export function addressOf({ kind, name }: DeclaredObject): string {
  return `${kind.name}.${name}`;
}

/** The manifest as YAML; an object that cannot be declared becomes a comment with its reason. */
export function manifestText(objects: readonly DeclaredObject[], parts: ManifestParts): string {
  const sections = [...new Set(objects.map((object) => object.kind.name))];
  const imports = objects.filter((object) => object.spec["id"] !== object.id);
  const isNone = imports.every((object) => parts.leftOut.has(addressOf(object)));
  return [
    schemaLine("."),
    "# Written by graphform import --all from the live objects. A field that is left out is not managed.",
    ...parts.unread.map(({ what, reason }) => `# Left out: ${comment(what)}: ${comment(reason)}`),
    "apiVersion: graphform/v1",
    `name: ${yamlScalar(parts.name)}`,
    ...(parts.service === undefined ? [] : ["", "service:", ...mapLines(Object.entries(parts.service), 1)]),
    ...(parts.state === undefined ? [] : ["", "state:", ...mapLines(Object.entries(parts.state), 1)]),
    ...sections.flatMap((section) => ["", ...sectionLines(section, objects, parts)]),
    ...(imports.length === 0 ? [] : ["", isNone ? "# imports:" : "imports:"]),
    ...imports.map((object) => {
      const entry = importEntry(addressOf(object), object.id);
      return `  ${parts.leftOut.has(addressOf(object)) ? "# " : ""}${entry}`;
    }),
    "",
  ].join("\n");
}

function sectionLines(
  section: string,
  objects: readonly DeclaredObject[],
  { leftOut }: ManifestParts,
): readonly string[] {
  const sectionObjects = objects.filter((object) => object.kind.name === section);
  const isEmpty = sectionObjects.every((object) => leftOut.has(addressOf(object)));
  const blocks = sectionObjects.map((object) => {
    const reason = leftOut.get(addressOf(object));
    const lines = [
      `  ${yamlScalar(object.name)}:`,
      ...object.notes.map((note) => `    # ${comment(note)}`),
      ...mapLines(Object.entries(nest(object.spec)), 2),
    ];
    if (reason === undefined) return lines;
    return [`  # left out, since ${comment(reason)}:`, ...lines.map((line) => `  # ${line.slice(2)}`)];
  });
  return [isEmpty ? `# ${section}:` : `${section}:`, ...blocks.flat()];
}

function mapLines(entries: readonly (readonly [string, Json])[], depth: number): readonly string[] {
  const indent = "  ".repeat(depth);
  return entries.flatMap(([key, value]) => {
    if (isObject(value))
      return [`${indent}${yamlScalar(key)}:`, ...mapLines(Object.entries(value), depth + 1)];
    return [
      `${indent}${yamlScalar(key)}: ${Array.isArray(value) ? JSON.stringify(value) : yamlScalar(value)}`,
    ];
  });
}

function comment(text: string): string {
  return escapeText(text, 400);
}

/** The service section of a manifest without undefined values; undefined if nothing is left. */
export function serviceSection(
  settings: { readonly [key in keyof ServiceSection]: ServiceSection[key] | undefined },
): ServiceSection | undefined {
  const given: JsonObject = Object.fromEntries(
    Object.entries(settings).flatMap(([key, value]): [string, Json][] =>
      value === undefined ? [] : [[key, value]],
    ),
  );
  return Object.keys(given).length === 0 ? undefined : given;
}

/** Subscriptions by tier. */
export interface TierSubscriptions {
  readonly byTier: { readonly [tier: string]: string };
  /** Tier -> the reason why its lookup failed, with a fix; a tier that simply has no subscription is absent. */
  readonly unknown: ReadonlyMap<string, string>;
}

/** Looks up the subscription of every tier; undefined if requests name none. Rejects if the first lookup is refused. */
export async function tierSubscriptions(
  service: Pick<Connection, "profile" | "subscriptions">,
  identity: ServiceIdentity,
  signal: AbortSignal,
): Promise<TierSubscriptions | undefined> {
  if (identity.subscription === undefined && identity.subscriptions === undefined) return undefined;
  const byTier = await service.subscriptions([], signal);
  const others = Object.keys(service.profile.tiers).filter((tier) => !Object.hasOwn(byTier, tier));
  const reasons = others.map(async (tier): Promise<readonly [string, string][]> => {
    try {
      await service.subscriptions([tier], signal);
      return [];
    } catch (error) {
      if (signal.aborted || !isGraphformError(error)) throw error;
      return [[tier, `${error.message}; add the right one to the manifest: service.subscriptions.${tier}`]];
    }
  });
  return { byTier, unknown: new Map((await Promise.all(reasons)).flat()) };
}

/** Entries for `service.subscriptions` of the found objects: with them a plan needs no lookup. */
export function subscriptionsUsed(
  found: readonly Found[],
  subscriptions: TierSubscriptions | undefined,
): ServiceSection["subscriptions"] {
  const used = new Set(found.map(({ place }) => String(place["tier"] ?? "")));
  const entries = Object.entries(subscriptions?.byTier ?? {}).filter(([tier]) => used.has(tier));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
