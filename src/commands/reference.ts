/** @module Prints what a person looks up: service profiles, JSON Schemas, and the references between the resources of a manifest. */
import { packageFile } from "../files/package-file.ts";
import { builtInProfiles, loadProfile } from "../hosting/profile/load-profile.ts";
import { suggest } from "../manifest/problems/fault.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { objectIn } from "../model/json.ts";
import { checkedManifest, openProject } from "../project/project.ts";
import { escapeText, jsonText } from "../report/typeset.ts";
import { tableText } from "./terminal/table-text.ts";
import type { Invocation, ManifestOptions } from "./with-run.ts";

type Options = Pick<ManifestOptions, "json">;

/** `profile list`: prints the profiles of the package. */
export async function profileList({ options, terminal }: Invocation<Options>): Promise<number> {
  const profiles = await Promise.all(builtInProfiles.map(loadProfile));
  const rows = profiles.map((profile) => [
    profile.name,
    profile.platformUrl ?? "set by you",
    `${Object.keys(profile.operations).length}`,
    Object.keys(profile.tiers).join(", "),
  ]);
  if (options.json === true)
    terminal.out(`${jsonText(profiles.map(({ name, platformUrl = null }) => ({ name, platformUrl })))}\n`);
  else terminal.out(tableText(["profile", "platform", "operations", "tiers"], rows, terminal));
  return exitCodes.done;
}

/** `profile show NAME`: prints a profile, merged with the profile that it extends. */
export async function profileShow({ options, terminal }: Invocation<Options>, name: string): Promise<number> {
  const profile = await loadProfile(name);
  if (options.json === true) {
    terminal.out(`${jsonText(objectIn(JSON.stringify(profile)) ?? {})}\n`);
    return exitCodes.done;
  }
  const operations = Object.entries(profile.operations).map(([operation, { method, path, host }]) => [
    operation,
    method,
    host === "users" ? `${path} (users host)` : path,
  ]);
  const tiers = Object.entries(profile.tiers).map(([tier, keys]) => [
    tier,
    keys.serviceModelKey,
    keys.productTierKey,
    Object.keys(keys.components).join(", "),
  ]);
  const spellings = Object.entries(profile.fields);
  const facts = [
    ["profile", profile.name],
    ["platform", profile.platformUrl ?? "set by you"],
    ["session", `sent as ${profile.session.send}`],
    ["updates", `${profile.operations["instance.update"]?.method ?? "-"}`],
    [
      "instance types",
      Object.entries(profile.instanceTypes)
        .map(([provider, types]) => `${provider} ${Object.keys(types).length}`)
        .join(", "),
    ],
    [
      "not offered",
      optional.filter((operation) => profile.operations[operation] === undefined).join(", ") || "-",
    ],
  ];
  terminal.out(tableText(["property", "value"], facts, terminal));
  terminal.out(`\n${tableText(["tier", "model key", "tier key", "components"], tiers, terminal)}`);
  terminal.out(`\n${tableText(["operation", "method", "path"], operations, terminal)}`);
  if (spellings.length > 0) terminal.out(`\n${tableText(["field", "spelled"], spellings, terminal)}`);
  return exitCodes.done;
}

const optional = [
  ...["instance.list-all", "network.list", "network.create", "network.delete", "user.update"],
  ...["user.delete", "snapshot.copy", "account.describe"],
];

/** `graph`: prints resources and their references as a Mermaid flowchart, or in the DOT language with `dot`. */
export async function graph(
  invocation: Invocation<ManifestOptions & { readonly dot?: boolean }>,
): Promise<number> {
  const { options, settings, terminal } = invocation;
  const project = await openProject(options, settings);
  const { desired } = await checkedManifest(project);
  const addresses = desired.map(({ address }) => address);
  const edges = desired.flatMap(({ address, refs }) => refs.map((ref) => [address, ref] as const));
  terminal.out(options.dot === true ? dot(addresses, edges) : mermaid(addresses, edges));
  return exitCodes.done;
}

type Edges = readonly (readonly [string, string])[];

function dot(addresses: readonly string[], edges: Edges): string {
  const quoted = (text: string): string => JSON.stringify(escapeText(text, 300));
  const lines = [
    ...addresses.map((address) => `  ${quoted(address)};`),
    ...edges.map(([from, to]) => `  ${quoted(from)} -> ${quoted(to)};`),
  ];
  return `digraph graphform {\n  rankdir = LR;\n  node [shape = box];\n${lines.join("\n")}\n}\n`;
}

function mermaid(addresses: readonly string[], edges: Edges): string {
  const ids = new Map(addresses.map((address, at) => [address, `n${at}`]));
  const label = (text: string): string =>
    escapeText(text, 300).replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  const nodes = addresses.map((address) => `  ${ids.get(address)}["${label(address)}"]`);
  const arrows = edges.flatMap(([from, to]) =>
    ids.has(to) ? [`  ${ids.get(from)} --> ${ids.get(to)}`] : [],
  );
  return `flowchart LR\n${[...nodes, ...arrows].join("\n")}\n`;
}

/** Names of the published schemas. */
export const schemaNames: readonly string[] = [
  ...["manifest", "layer", "profile", "plan", "drift", "validation", "several", "events"],
  ...["replace", "state", "controller", "fleet"],
];

/** `schema NAME`: prints a JSON Schema (draft-07) for editors and scripts. Throws `schema-unknown`. */
export function schema({ terminal }: Invocation<object>, name: string): number {
  if (!schemaNames.includes(name))
    throw new GraphformError("schema-unknown", `there is no schema "${name}"`, {
      hint: suggest(name, schemaNames, "schemas are"),
    });
  terminal.out(packageFile(`schemas/${name === "events" ? "event" : name}.schema.json`));
  return exitCodes.done;
}
