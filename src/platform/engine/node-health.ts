/** @module Checks whether nodes run, answer and replicate. */
import { isHalted } from "../../files/process-identity.ts";
import { info, type Login, ping, talk } from "./connection.ts";
import type { DatabaseNode } from "./database.ts";
import { type LiveNode, shownNode } from "./live-node.ts";
import { replicationOf } from "./replication.ts";
import { untilServing } from "./until-serving.ts";
import { takesWrites } from "./write-permission.ts";

/** Time without an answer after which a node counts as silent, in ms. */
const silenceLimit = 5000;

/** Returns the operator's login to a node. */
export type LoginOf = (node: LiveNode) => Login;

/** True where every node answers, the primary takes writes and the replicas are in sync. Never rejects. */
export async function areHealthy(nodes: readonly LiveNode[], loginOf: LoginOf): Promise<boolean> {
  const answers = nodes.map(async (node) => {
    await ping(loginOf(node));
    return node.role === "primary"
      ? takesWrites(loginOf(node))
      : (await replicationOf(loginOf(node))).get("master_link_status") === "up";
  });
  return (await Promise.allSettled(answers)).every((answer) => answer.status === "fulfilled" && answer.value);
}

/** Nodes whose process does not run. */
export function downNodes(nodes: readonly LiveNode[]): readonly DatabaseNode[] {
  return nodes.filter(({ server }) => server?.isAlive() !== true).map(shownNode);
}

/** Nodes whose process is halted. */
export function haltedNodes(nodes: readonly LiveNode[]): readonly DatabaseNode[] {
  return nodes.filter(({ server }) => server !== undefined && isHalted(server.identity)).map(shownNode);
}

/** Nodes that have been silent for seconds without being busy. Never rejects. */
export async function silentNodes(
  nodes: readonly LiveNode[],
  loginOf: LoginOf,
): Promise<readonly DatabaseNode[]> {
  const responsive = await Promise.all(nodes.map((node) => isResponsive(node, loginOf(node))));
  return nodes.filter((_, at) => responsive[at] === false).map(shownNode);
}

/**
 * True where a node answers or is busy. Also repeats a failed snapshot: without an append-only file the server refuses writes until
 * one succeeds, and its own next attempt may be a day away.
 */
export async function isResponsive({ server }: LiveNode, login: Login): Promise<boolean> {
  if (server === undefined) return false;
  if (!(await untilServing(server.identity, login, silenceLimit))) return false;
  await talk(login, async (ask) => {
    const seen = await info(ask, "persistence");
    if (seen.get("rdb_last_bgsave_status") === "err" && seen.get("rdb_bgsave_in_progress") === "0")
      await ask("BGSAVE");
  }).catch(() => undefined);
  return true;
}
