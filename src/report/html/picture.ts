/** @module Draws the changed resources and their neighbours, and says the same in words. */
import { Graph, layout } from "@dagrejs/dagre";
import { escapeText } from "../escape.ts";
import { textWidth } from "../text-width.ts";
import { actionSigns } from "../view/change-block.ts";
import type { GraphNode, Neighbourhood } from "../view/neighbourhood.ts";
import { folded, section } from "./block-html.ts";
import { type Markup, markup } from "./markup.ts";

/** More nodes than this are no picture any more. */
const maxNodes = 60;

/** A section with the picture and its text; undefined if no changed resource refers to another. */
export function pictureHtml({ nodes, edges, alone }: Neighbourhood): Markup | undefined {
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

function drawingOf(nodes: readonly GraphNode[], edges: Neighbourhood["edges"]): Markup {
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
