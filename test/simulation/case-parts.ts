import type { ResourceCase, RunCase, ServiceCase, WireCase } from "./case.ts";

/** A service that takes no liberties but these. */
export function service(over: Partial<ServiceCase> = {}): ServiceCase {
  return {
    networks: true,
    echo: true,
    listLag: 0,
    describeLag: 0,
    linger: 0,
    flicker: false,
    stale: 0,
    latency: 10,
    work: 100,
    deleteAnytime: false,
    twoPhase: false,
    usersOfNobody: 404,
    skew: 0,
    ...over,
  };
}

/** A door where nobody waits, but for these. */
export function door(over: Partial<WireCase> = {}): WireCase {
  return {
    tokenLife: 3_600_000,
    refreshLife: 86_400_000,
    perSecond: 1000,
    atOnce: 100,
    retryAfter: 0,
    ...over,
  };
}

/** A database that can have users. */
export function enterprise(tag: number): ResourceCase["spec"] {
  const config = { graphdbUser: "app", graphdbPassword: `s3cret-${tag}-1`, maxMemory: "2GB" };
  const where = { cloudProvider: "aws", region: "us-east-1", power: "running" };
  return { ...where, tier: "enterprise", component: "standalone", config };
}

/** An ordinary database; `config` is laid over its settings. */
export function database(
  tag: number,
  config: ResourceCase["spec"] = {},
  over: Partial<ResourceCase> = {},
): ResourceCase {
  const settings = {
    graphdbUser: "app",
    graphdbPassword: `s3cret-${tag}-1`,
    memoryRequestsAndLimits: "1200M",
    ...config,
  };
  const where = {
    cloudProvider: "aws",
    region: "us-east-1",
    power: "running",
    tier: "startup",
    component: "standalone",
  };
  return { address: "instances.a", tag, spec: { ...where, config: settings }, ...over };
}

/** The same, and not to run. */
export function stopped(resource: ResourceCase): ResourceCase {
  return { ...resource, spec: { ...resource.spec, power: "stopped" } };
}

/** A user of instances.a. */
export function user(tag: number, address: string): ResourceCase {
  const spec = { instance: "a", username: `user-${tag}`, password: `s3cret-${tag}-1`, acl: "~* +INFO +PING" };
  return { address, tag, spec };
}

/** A network that was there before. */
export function adopted(address: string): ResourceCase {
  const id = "network-before-b";
  return {
    address,
    tag: 1,
    importId: id,
    spec: { id, cloudProvider: "aws", region: "us-east-1", name: "net 1 1" },
  };
}

/** One run that applies these. */
export function apply(resources: readonly ResourceCase[], over: Partial<RunCase> = {}): RunCase {
  return { does: "apply", resources, ...over };
}

/** A network of the manifest's own making. */
export function network(address: string, tag: number, over: ResourceCase["spec"] = {}): ResourceCase {
  const where = { cloudProvider: "aws", region: "us-east-1", cidr: `10.${tag}.0.0/16` };
  return { address, tag, spec: { name: `net ${tag} 1`, ...where, ...over } };
}

/** A cloud account. */
export function account(tag: number, over: Partial<ResourceCase> = {}): ResourceCase {
  const id = `${String(tag).padStart(6, "0")}000000`;
  const role = `arn:aws:iam::${id}:role/bootstrap`;
  const config = {
    aws_account_id: id,
    aws_bootstrap_role_arn: role,
    account_configuration_method: "Terraform",
  };
  return { address: "cloudAccounts.a", tag, spec: { cloudProvider: "aws", config }, ...over };
}
