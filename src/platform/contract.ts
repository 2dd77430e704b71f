/** Version segment of every path of the platform host (specification 9). */
export const version: string = "/2022-09-01-00";

/** Fixed segments of the default profile's paths. */
export const providerSegment: string = "sp-default";
export const serviceSegment: string = "graphdb";

/** Every operation on instances of one component: P of the contract. */
export const componentPath: string = `${version}/resource-instance/${providerSegment}/${serviceSegment}/v1/prod`;

/** Media type of every error of the platform host (specification 7). */
export const errorMediaType: string = "application/vnd.goa.error";

export const sessionCookie: string = "svc_token";
export const refreshCookie: string = "svc_refresh_token";

/** Longest user name or password in bytes: the database lets nobody sign in with a longer one. */
export const longestLogin: number = 16 * 1024;

/** Path prefix of the users host. */
export const usersPrefix: string = "/v1/customer-ldap";

/** Largest request body that is read, in bytes. */
export const largestBody: number = 1024 * 1024;

/** Largest body of a request that is answered without a session: credentials and tokens. */
export const largestOpenBody: number = 16 * 1024;

/** One component of a plan: its resource key is the component's name. */
export interface Component {
  readonly key: string;
  readonly resourceId: string;
  readonly name: string;
  /** Node ids as the topology names them; the first one starts as primary. */
  readonly nodes: readonly string[];
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

type Blueprint = Omit<Component, "resourceId">;

const standalone: Blueprint = { key: "standalone", name: "Standalone", nodes: ["node-s-0"] };
const singleZone: Blueprint = { key: "single-zone", name: "Single Zone", nodes: ["node-sz-0", "node-sz-1"] };
const multiZone: Blueprint = { key: "multi-zone", name: "Multi Zone", nodes: ["node-mz-0", "node-mz-1"] };
const free: Blueprint = { key: "free", name: "Free", nodes: ["node-f-0"] };
const zoned = [standalone, singleZone, multiZone];
const account: Component = {
  key: "cloud-account",
  resourceId: "r-injectedaccountconfig-local",
  name: "Cloud Account Configuration",
  nodes: [],
};

/** A tier's plan; resource ids are its own, so that one of them tells tier and component. */
function planOf(tier: string, modelKey: string, name: string, blueprints: readonly Blueprint[]): Plan {
  const components = blueprints.map((each) => ({ ...each, resourceId: `r-${tier}-${each.key}` }));
  return { tier, modelKey, tierKey: tier, name, components, hasBackups: tier !== "free" };
}

/** The plans of the default profile, one per tier. */
export const plans: readonly Plan[] = [
  { ...planOf("enterprise-byoa", "byoa", "Enterprise BYOA", zoned), account },
  planOf("enterprise", "hosted", "Enterprise", zoned),
  planOf("pro", "hosted", "Pro", zoned),
  planOf("startup", "hosted", "Startup", [standalone]),
  planOf("free", "hosted", "Free", [free]),
];

/** A plan's component found by the three keys of a path; undefined where there is none. */
export function findComponent(
  modelKey: string,
  tierKey: string,
  resourceKey: string,
): { readonly plan: Plan; readonly component: Component; readonly isAccount: boolean } | undefined {
  const plan = plans.find((each) => each.modelKey === modelKey && each.tierKey === tierKey);
  if (plan === undefined) return undefined;
  if (plan.account?.key === resourceKey) return { plan, component: plan.account, isAccount: true };
  const component = plan.components.find((each) => each.key === resourceKey);
  return component === undefined ? undefined : { plan, component, isAccount: false };
}

/** The plan of a tier; undefined where there is none. */
export function findPlan(tier: string): Plan | undefined {
  return plans.find((plan) => plan.tier === tier);
}
