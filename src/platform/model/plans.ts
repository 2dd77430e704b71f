/** @module Lists the service plans of the platform, their components and nodes. */
import type { InstanceRecord } from "./records.ts";
import { ServiceError } from "./service-error.ts";

export interface PlanResource {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  /** Purpose: the databases' nodes, the public endpoint, or an auxiliary service. */
  readonly part: "database" | "public" | "sentinel" | "rebalance" | "observability";
  readonly main: boolean;
}

export interface Component {
  /** Id of the component in every dialect; records store it. */
  readonly id: string;
  readonly key: string;
  readonly resourceId: string;
  readonly name: string;
  /** Node ids in the topology; the first node starts as primary. Empty: listed, but this platform cannot run it. */
  readonly nodes: readonly string[];
  readonly resources: readonly PlanResource[];
}

export interface Plan {
  readonly tier: string;
  readonly modelKey: string;
  readonly tierKey: string;
  readonly name: string;
  readonly components: readonly Component[];
  readonly hasBackups: boolean;
  /** The account configuration resource of plans that run in the customer's cloud account. */
  readonly account?: Component;
}

type Blueprint = Pick<Component, "id" | "name" | "nodes">;

const standalone: Blueprint = { id: "standalone", name: "Standalone", nodes: ["node-s-0"] };
const singleZone: Blueprint = { id: "single-zone", name: "Single Zone", nodes: ["node-sz-0", "node-sz-1"] };
const multiZone: Blueprint = { id: "multi-zone", name: "Multi Zone", nodes: ["node-mz-0", "node-mz-1"] };
const free: Blueprint = { id: "free", name: "Free", nodes: ["node-f-0"] };
const zoned = [standalone, singleZone, multiZone];
const account: Component = {
  id: "cloud-account",
  key: "cloud-account",
  resourceId: "r-injectedaccountconfig-local",
  name: "Cloud Account Configuration",
  nodes: [],
  resources: [],
};

/** A component with a single resource. Resource ids contain the tier, so that an id identifies both tier and component. */
function componentOf(tier: string, blueprint: Blueprint): Component {
  const { id, name } = blueprint;
  const resourceId = `r-${tier}-${id}`;
  const resources = [{ id: resourceId, key: id, name, part: "database", main: true }] as const;
  return { ...blueprint, key: id, resourceId, resources };
}

function planOf(tier: string, modelKey: string, name: string, blueprints: readonly Blueprint[]): Plan {
  const components = blueprints.map((blueprint) => componentOf(tier, blueprint));
  return { tier, modelKey, tierKey: tier, name, components, hasBackups: tier !== "free" };
}

/** The plans of the platform, one per tier, with the keys of the default profile. */
export const plans: readonly Plan[] = [
  { ...planOf("enterprise-byoa", "byoa", "Enterprise BYOA", zoned), account },
  planOf("enterprise", "hosted", "Enterprise", zoned),
  planOf("pro", "hosted", "Pro", zoned),
  planOf("startup", "hosted", "Startup", [standalone]),
  planOf("free", "hosted", "Free", [free]),
];

export function findPlan(tier: string): Plan | undefined {
  return plans.find((plan) => plan.tier === tier);
}

/** Node ids of an instance, in the engine's order. */
export function nodesOf({ tier, component }: Pick<InstanceRecord, "tier" | "component">): readonly string[] {
  return findPlan(tier)?.components.find(({ id }) => id === component)?.nodes ?? [];
}

/** Versions of every plan, oldest first. All of them run the same database program: only the number differs. */
const versions: readonly string[] = ["1.0", "1.1"];

/** The version of instances whose create names none. */
export const preferredVersion: string = versions[0] ?? "";

/** The plan version of an instance; records of earlier platforms contain none. */
export function versionOf({ planVersion }: Pick<InstanceRecord, "planVersion">): string {
  return planVersion ?? preferredVersion;
}

export function knownVersion(asked: string): string {
  if (versions.includes(asked)) return asked;
  throw new ServiceError(400, `no service plan has version ${asked}; there are ${versions.join(", ")}`);
}

/** The target of an upgrade: the requested version, or the newest. Refused (400) if it does not exist or is not newer. */
export function upgradeTarget(record: InstanceRecord, asked: string = versions.at(-1) ?? ""): string {
  const [target, now] = [knownVersion(asked), versionOf(record)];
  if (versions.indexOf(target) > versions.indexOf(now)) return target;
  throw new ServiceError(400, `instance ${record.id} has version ${now}; ${target} is not newer`);
}
