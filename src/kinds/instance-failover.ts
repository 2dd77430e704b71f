import { GraphformError } from "../model/errors.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Choices } from "../model/kind.ts";

/** What is done with the node that failed where nobody says (wire facts 1.1). */
const defaultAction = "FAILOVER_AND_RESTART";

/**
 * The body of a failover (specification 4.7). Where nobody names the node to give up, it is the first one that is
 * unwell, otherwise the primary, otherwise the first. Throws `no-replica` where nothing is there to fail over to.
 */
export function failoverBody(id: string, topology: Json | undefined, choices: Choices): JsonObject {
  const nodes = nodesOf(topology);
  const failed = choices["replica"] ?? chosen(nodes);
  const names = nodes.map((node) => node.id).join(", ");
  if (nodes.length === 1 && choices["replica"] === undefined) {
    throw new GraphformError("no-replica", `${id} has one node and nothing to fail over to`, {
      hint: "components with replicas are single-zone and multi-zone",
    });
  }
  if (failed === undefined) {
    throw new GraphformError("no-replica", `the service does not show the nodes of ${id}`, {
      hint: "name the node to give up with --replica ID",
    });
  }
  if (nodes.length > 0 && !nodes.some((node) => node.id === failed)) {
    throw new GraphformError("no-replica", `${id} has no node "${failed}"`, { hint: `it has: ${names}` });
  }
  return { failedReplicaId: failed, failedReplicaAction: choices["action"] ?? defaultAction };
}

interface Node {
  readonly id: string;
  readonly isPrimary: boolean;
  readonly isUnwell: boolean;
}

function chosen(nodes: readonly Node[]): string | undefined {
  return (nodes.find((node) => node.isUnwell) ?? nodes.find((node) => node.isPrimary) ?? nodes[0])?.id;
}

/** Nodes of the main resource, or of all where none is marked; sentinels and the like are no replicas. */
function nodesOf(topology: Json | undefined): readonly Node[] {
  const resources = isObject(topology) ? Object.values(topology).filter(isObject) : [];
  const main = resources.filter((resource) => resource["main"] === true);
  return (main.length > 0 ? main : resources).flatMap((resource) => {
    const nodes = resource["nodes"];
    return Array.isArray(nodes) ? nodes.filter(isObject).flatMap(nodeOf) : [];
  });
}

function nodeOf(node: JsonObject): readonly Node[] {
  const word = (key: string): string => String(node[key] ?? "").toUpperCase();
  const id = node["id"];
  if (typeof id !== "string" || id === "") return [];
  const isUnwell = word("healthStatus") === "UNHEALTHY" || word("status") === "FAILED";
  return [{ id, isPrimary: ["PRIMARY", "MASTER", "LEADER"].includes(word("role")), isUnwell }];
}
