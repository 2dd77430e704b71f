/** A resource of a plan, as the topology of an instance lists it. */
export interface PlanResource {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  /** What it is for: the databases' nodes, the public name of it all, or something beside them. */
  readonly part: "database" | "public" | "sentinel" | "rebalance" | "observability";
  /** The one that people choose. */
  readonly main: boolean;
}

/** One component of a plan. */
export interface Component {
  /** The platform's own name of it, the same in every dialect; records hold it. */
  readonly id: string;
  /** Its resource key in paths. */
  readonly key: string;
  readonly resourceId: string;
  readonly name: string;
  /** Node ids as the topology names them; the first one starts as primary. None: listed, and not run here. */
  readonly nodes: readonly string[];
  readonly resources: readonly PlanResource[];
}

/** A product tier as a service plan: its two path keys, and what it offers. */
export interface Plan {
  readonly tier: string;
  readonly modelKey: string;
  readonly tierKey: string;
  readonly name: string;
  readonly components: readonly Component[];
  readonly hasBackups: boolean;
  /** Key of the account configuration resource, for plans that run in the customer's account. */
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

/** A component whose one resource is itself; resource ids are the plan's own, so that one of them tells tier and component. */
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

/** The plans that the platform has, one per tier, under the keys of the default profile. */
export const plans: readonly Plan[] = [
  { ...planOf("enterprise-byoa", "byoa", "Enterprise BYOA", zoned), account },
  planOf("enterprise", "hosted", "Enterprise", zoned),
  planOf("pro", "hosted", "Pro", zoned),
  planOf("startup", "hosted", "Startup", [standalone]),
  planOf("free", "hosted", "Free", [free]),
];

/** The plan of a tier; undefined where there is none. */
export function findPlan(tier: string): Plan | undefined {
  return plans.find((plan) => plan.tier === tier);
}

/** The node ids of an instance, in the order of the engine's own. */
export function nodesOf({
  tier,
  component,
}: {
  readonly tier: string;
  readonly component: string;
}): readonly string[] {
  return findPlan(tier)?.components.find(({ id }) => id === component)?.nodes ?? [];
}
