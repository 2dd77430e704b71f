/** @module Draws the references between the resources of a manifest. */
import { exitCodes } from "../model/errors.ts";
import { checkedManifest, openProject } from "../project/project.ts";
import { escapeText } from "../report/escape.ts";
import type { ManifestOptions } from "./options.ts";
import type { Invocation } from "./with-run.ts";

/** `graph`: prints resources and their references as a Mermaid flowchart, or in the DOT language with `dot`. */
export async function graph({
  options,
  settings,
  terminal,
}: Invocation<ManifestOptions & { readonly dot?: boolean }>): Promise<number> {
  const project = await openProject(options, settings);
  const manifest = await checkedManifest(project);
  const addresses = manifest.desired.map((entry) => entry.address);
  const edges = manifest.desired.flatMap(({ address, refs }) =>
    refs.map((ref): [string, string] => [address, ref]),
  );
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
