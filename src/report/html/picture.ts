/** @module Finds the changed resources that are connected by references, with their unchanged neighbours; draws them, and says the same in words. */
import { Graph, layout } from "@dagrejs/dagre";
import type { Address } from "../../model/address.ts";
import type { Action } from "../../model/plan.ts";
import type { RedactedPlan } from "../redact.ts";
import { escapeText, textWidth } from "../typeset.ts";
import { actionSigns } from "../view/change-block.ts";
import { escaped, type ReportView } from "../view/report-view.ts";
import { folded, type Markup, markup, section } from "./block-html.ts";

/** More nodes than this are no picture any more. */
const maxNodes = 60;

/** A section with the picture of a plan and its text; undefined if no changed resource refers to another. */
export function pictureHtml(plan: RedactedPlan, view: ReportView): Markup | undefined {
  const { nodes, edges, alone } = neighbourhood(plan, view);
  if (edges.length === 0) return undefined;
  const names = new Map(nodes.map((node) => [node.id, labelOf(node)]));
  const lines = edges.map(
    ({ from, to }) =>
      markup`<li><span class="address">${names.get(to)}</span> refers to <span class="address">${names.get(from)}</span></li>`,
  );
  const left = alone > 0 && markup`<p class="dim">Left out: ${alone} without references.</p>`;
  const drawing =
    nodes.length > maxNodes
      ? markup`<p>These are too many for a picture: ${nodes.length}.</p>`
      : drawingOf(nodes, edges);
  return section(
    "picture",
    "Changed resources and their neighbours",
    drawing,
    left,
    folded("The picture in words", markup`<ul class="plain">${lines}</ul>`),
  );
}

function drawingOf(nodes: readonly GraphNode[], edges: readonly Edge[]): Markup {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 16, ranksep: 48, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) {
    const width = Math.max(textWidth(labelOf(node)), textWidth(doesText(node))) * characterWidth + 24;
    graph.setNode(node.id, { width, height: 44 });
  }
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const box = `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`;
  return markup`<div class="picture" tabindex="0" role="region" aria-label="Picture of references"><svg role="img" aria-label="Changed resources and their neighbours; the list below says the same in words" viewBox="${box}" width="${Math.ceil(width)}" height="${Math.ceil(height)}">
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>
${edges.map(({ from, to }) => edgePath(graph.edge(from, to).points ?? []))}${nodes.map((node) => nodeBox(node, graph.node(node.id)))}</svg></div>
<p class="dim">An arrow leads from a resource to one that refers to it; a dashed one does not change.</p>`;
}

/** Of the 12-pixel fixed-width font of the style sheet. */
const characterWidth = 7.3;

interface Point {
  readonly x: number;
  readonly y: number;
}

function edgePath(points: readonly Point[]): Markup {
  const steps = points.map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`);
  return markup`<path d="${steps.join("")}" marker-end="url(#tip)"/>`;
}

function nodeBox(
  node: GraphNode,
  { x, y, width, height }: Point & { readonly width: number; readonly height: number },
): Markup {
  const look = node.action === "keep" ? "quiet kept" : node.blocked ? "bad" : actionSigns[node.action][1];
  return markup`<g class="node ${look}" transform="translate(${(x - width / 2).toFixed(1)} ${(y - height / 2).toFixed(1)})"><rect width="${width.toFixed(1)}" height="${height}" rx="6"/><text x="12" y="18">${labelOf(node)}</text><text class="does" x="12" y="34">${doesText(node)}</text></g>`;
}

function doesText({ action, blocked }: GraphNode): string {
  if (action === "keep") return "unchanged";
  return `${actionSigns[action][0]} ${action}${blocked ? ", blocked" : ""}`;
}

function labelOf({ addresses }: GraphNode): string {
  const [first = ""] = addresses;
  const shown = escapeText(first, maxLabel);
  return addresses.length === 1 ? shown : `${shown} and ${addresses.length - 1} more`;
}

const maxLabel = 60;

/** One node: the changes of a block, or unchanged resources of one name. */
interface GraphNode {
  readonly id: string;
  /** Sorted; at least one. */
  readonly addresses: readonly Address[];
  readonly action: Action;
  readonly blocked: boolean;
}

/** `from` is referred to by `to`. */
interface Edge {
  readonly from: string;
  readonly to: string;
}

/** Changed resources and their neighbours; equal ones are one node. `alone` counts changes without any reference, which are none. */
function neighbourhood(
  plan: RedactedPlan,
  { groups }: ReportView,
): { readonly nodes: readonly GraphNode[]; readonly edges: readonly Edge[]; readonly alone: number } {
  const changes = escaped(
    plan.changes.map(({ address, refs, action, blocked }) => ({ address, refs, action, blocked })),
  );
  const blocks = groups.flatMap((group) => group.blocks).filter(({ isChange }) => isChange);
  const blockIds = new Map(
    blocks.flatMap((block, at) => block.addresses.map(({ address }) => [address, `b${at}`] as const)),
  );
  const byAddress = new Map(changes.map((change) => [change.address, change]));
  const idOf = (address: Address): string => blockIds.get(address) ?? `k ${address.replace(/\[.*/s, "")}`;
  const links = changes.flatMap(({ address, refs = [] }) =>
    refs
      .filter((ref) => byAddress.has(ref) && (blockIds.has(ref) || blockIds.has(address)))
      .map((ref) => ({ ref, address })),
  );
  const members = new Map<string, Set<Address>>();
  for (const address of links.flatMap(({ ref, address: to }) => [ref, to])) {
    const known = members.get(idOf(address)) ?? new Set();
    members.set(idOf(address), known.add(address));
  }
  const pairs = links.map(({ ref, address }) => ({ from: idOf(ref), to: idOf(address) }));
  const edges = new Map(pairs.map((pair) => [`${pair.from}>${pair.to}`, pair]));
  const nodes = [...members].map(([id, set]): GraphNode => {
    const addresses = [...set].sort();
    const { action = "keep", blocked = [] } = byAddress.get(addresses[0] ?? "") ?? {};
    return { id, addresses, action, blocked: blocked.length > 0 };
  });
  const drawn = nodes
    .filter(({ action }) => action !== "keep")
    .reduce((sum, node) => sum + node.addresses.length, 0);
  return {
    nodes: nodes.sort((a, b) => (a.id < b.id ? -1 : 1)),
    edges: [...edges.values()].filter(({ from, to }) => from !== to),
    alone: blockIds.size - drawn,
  };
}
