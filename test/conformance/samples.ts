import { kinds } from "../../src/kinds/index.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import type { Kind } from "../../src/model/kind.ts";
import type { Ref } from "../../src/model/observed.ts";
import type { Service } from "../../src/model/service.ts";
import { flatten, type Spec } from "../../src/model/spec.ts";
import { always, untilReady } from "./benches.ts";

/** One in-place change of a kind: another value, and what is to be sent for it, word for word. */
export interface Change {
  readonly path: string;
  readonly value: Json;
  readonly sends: JsonObject;
}

/** What the suite needs to know of a kind, written from the specification. */
export interface Sample {
  readonly kind: Kind;
  /** Specs that together hold every field of the kind; names of others stand as the ids of `referents`. */
  readonly specs: readonly ((referents: Referents) => Spec)[];
  readonly changes: readonly Change[];
  /** Fields that the service never shows, and why. */
  readonly hidden: { readonly [path: string]: string };
  /** The operation that shows one of them. */
  readonly shownBy: string;
  /** Ids that are listed before anything is created. */
  readonly before: (referents: Referents) => readonly string[];
  /** False where the service gives it no status. */
  readonly hasStatus: boolean;
}

/** Ids of what the samples refer to. */
export interface Referents {
  readonly network: string;
  readonly configId: string;
  readonly instance: string;
}

const password = "a-password-that-nobody-shows";

/** Texts that no kind may let through. */
export const secrets: readonly string[] = [password, "another-password", "poison-4711"];

const base = { cloudProvider: "aws", region: "us-east-1" };
const login = { graphdbUser: "app", graphdbPassword: password };
const tuning = {
  enableTLS: true,
  AOFPersistenceConfig: "always",
  RDBPersistenceConfig: "high",
  graphDBCacheSize: 100,
  graphDBMaxQueuedQueries: 60,
  graphDBNodeCreationBuffer: 512,
  graphDBQueryMemCapacity: 5242880,
  graphDBResultSetSize: 500,
  graphDBTimeoutDefault: 1000,
  graphDBTimeoutMax: 2000,
};

const instances: Sample = {
  kind: kinds.named("instances"),
  specs: [
    ({ network }) => ({
      tier: "enterprise",
      component: "single-zone",
      ...base,
      networkType: "INTERNAL",
      network,
      config: {
        ...{ name: "orders", description: "the order graph", nodeInstanceType: "m7g.large" },
        ...{ numReplicas: 2, maxMemory: "4GB", enableEnterpriseModule: true },
        ...login,
        ...tuning,
      },
    }),
    ({ configId }) => ({
      tier: "enterprise-byoa",
      component: "standalone",
      ...base,
      cloudAccount: configId,
      nativeNetworkId: "vpc-1",
      config: { ...login, name: "vault", nodeInstanceType: "m7g.large" },
    }),
    () => ({
      tier: "pro",
      component: "standalone",
      ...base,
      config: { ...login, nodeInstanceType: "m7g.large" },
    }),
    () => ({
      tier: "startup",
      component: "standalone",
      ...base,
      config: { ...login, memoryRequestsAndLimits: "2200M" },
    }),
    () => ({ tier: "free", component: "free", ...base, config: { ...login, name: "scratch" } }),
  ],
  changes: [
    { path: "networkType", value: "PUBLIC", sends: { network_type: "PUBLIC" } },
    ...(
      [
        ["name", "shop"],
        ["description", "another text"],
        ["nodeInstanceType", "r7g.large"],
        ["maxMemory", "5GB"],
        ["graphdbPassword", "another-password"],
      ] as const
    ).map(([name, value]) => ({
      path: `config.${name}`,
      value,
      sends: { requestParams: { [name]: value } },
    })),
  ],
  hidden: {
    "config.graphdbPassword": "a secret",
    "config.numReplicas": "the one field that the service does not echo",
  },
  shownBy: "instance.describe",
  before: () => [],
  hasStatus: true,
};

const networks: Sample = {
  kind: kinds.named("networks"),
  specs: [() => ({ name: "core-prod", cloudProvider: "gcp", region: "us-central1", cidr: "10.9.0.0/16" })],
  changes: [{ path: "name", value: "core-test", sends: { name: "core-test" } }],
  hidden: {},
  shownBy: "network.describe",
  before: ({ network }) => [network],
  hasStatus: true,
};

const own = { account_configuration_method: "Terraform", allow_new_cloud_native_network_creation: true };

const cloudAccounts: Sample = {
  kind: kinds.named("cloudAccounts"),
  specs: [
    () => ({
      cloudProvider: "aws",
      config: {
        aws_account_id: "210987654321",
        aws_bootstrap_role_arn: "arn:aws:iam::210987654321:role/bootstrap",
        private_link: "true",
        ...own,
      },
    }),
    () => ({
      cloudProvider: "gcp",
      config: {
        gcp_project_id: "my-project",
        gcp_project_number: "4711",
        gcp_service_account_email: "bootstrap-org@my-project.iam.gserviceaccount.com",
        ...own,
      },
    }),
    () => ({
      cloudProvider: "azure",
      config: { azure_subscription_id: "sub", azure_tenant_id: "tenant", ...own },
    }),
    () => ({
      cloudProvider: "oci",
      config: { oci_tenancy_id: "ocid1.tenancy", oci_domain_id: "ocid1.domain", ...own },
    }),
  ],
  changes: [],
  hidden: {},
  shownBy: "account.get",
  before: () => [],
  hasStatus: true,
};

const users: Sample = {
  kind: kinds.named("users"),
  specs: [({ instance }) => ({ instance, username: "reader", password, acl: "~* +GRAPH.RO_QUERY +PING" })],
  changes: [
    { path: "password", value: "another-password", sends: { password: "another-password" } },
    { path: "acl", value: "~orders:* +PING", sends: { acl: "~orders:* +PING" } },
  ],
  hidden: { password: "a secret" },
  shownBy: "user.list",
  before: ({ instance }) => [`${instance}/app`],
  hasStatus: false,
};

/** One for every kind. */
export const samples: readonly Sample[] = [instances, networks, cloudAccounts, users].map((sample) => ({
  ...sample,
  specs: sample.specs.map((make) => (referents: Referents) => flatten(make(referents))),
}));

/** Creates what a kind's samples refer to, and nothing that would be of that kind itself where it can be helped. */
export async function createReferents(sample: Sample, service: Service): Promise<Referents> {
  const make = async (
    section: string,
    nested: JsonObject,
  ): Promise<{ readonly id: string; readonly outputs: JsonObject }> => {
    const kind = kinds.named(section);
    const spec = flatten(nested);
    const driver = kind.driver(service);
    const ref: Ref = { id: await driver.create(spec, always), place: kind.place(spec) };
    return untilReady(driver, ref);
  };
  const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
  const network = await make("networks", { name: "other", ...base, cidr: "10.1.0.0/16" });
  const isOwn = sample.kind.name === "instances";
  const account = {
    aws_account_id: "123456789012",
    aws_bootstrap_role_arn: "arn:aws:iam::123456789012:role/bootstrap",
    ...own,
  };
  const config = isOwn ? await make("cloudAccounts", { cloudProvider: "aws", config: account }) : undefined;
  const needsInstance = sample.kind.name === "users";
  const free = { tier: "free", component: "free", ...base, config: login };
  const instance = needsInstance ? await make("instances", free) : undefined;
  return { network: network.id, configId: text(config?.outputs["configId"]), instance: instance?.id ?? "" };
}
