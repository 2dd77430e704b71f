/** @module Finds the changed resources that are connected by references, and their unchanged neighbours. */
import type { Address } from "../../model/address.ts";
import type { Action, Change, Plan } from "../../model/plan.ts";
import { escaped, type ReportView } from "./report-view.ts";

/** One node: the changes of a block, or unchanged resources of one name. */
export interface GraphNode {
  readonly id: string;
  /** Sorted; at least one. */
  readonly addresses: readonly Address[];
  readonly action: Action;
  readonly blocked: boolean;
}

/** Changed resources with those that they refer to or that refer to them. */
export interface Neighbourhood {
  readonly nodes: readonly GraphNode[];
  /** `from` is referred to by `to`. */
  readonly edges: readonly { readonly from: string; readonly to: string }[];
  /** Number of changes without any reference: they are no nodes. */
  readonly alone: number;
}

/** The neighbourhood of the changes of a plan. Equal changes are one node, and so are unchanged resources of one name. */
export function neighbourhood(
  plan: Pick<Plan<unknown>, "changes">,
  { groups }: Pick<ReportView, "groups">,
): Neighbourhood {
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
  const edges = new Map(
    links.map(({ ref, address }) => [
      `${idOf(ref)}>${idOf(address)}`,
      { from: idOf(ref), to: idOf(address) },
    ]),
  );
  const nodes = [...members].map(([id, addresses]) => nodeOf(id, [...addresses].sort(), byAddress));
  const drawn = nodes
    .filter(({ action }) => action !== "keep")
    .reduce((sum, node) => sum + node.addresses.length, 0);
  return {
    nodes: nodes.sort((a, b) => (a.id < b.id ? -1 : 1)),
    edges: [...edges.values()].filter(({ from, to }) => from !== to),
    alone: blockIds.size - drawn,
  };
}

function nodeOf(
  id: string,
  addresses: readonly Address[],
  byAddress: ReadonlyMap<Address, Pick<Change<unknown>, "action" | "blocked">>,
): GraphNode {
  const change = byAddress.get(addresses[0] ?? "");
  return { id, addresses, action: change?.action ?? "keep", blocked: (change?.blocked.length ?? 0) > 0 };
}
