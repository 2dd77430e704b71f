import type { ProfileName } from "./services.ts";

export const phases = ["create", "update"] as const;

/** What is cut: the creation of twenty resources of all kinds, or changes of every sort to them. */
export type Phase = (typeof phases)[number];

/** What an apply that is cut has to bring about. */
export interface Declared {
  readonly text: string;
  readonly count: number;
  /** The addresses whose password is the second one by now. */
  readonly renewed: readonly string[];
  /** The addresses whose objects from before are deleted; nothing else ever is. */
  readonly gone: readonly string[];
}

/** The manifest of a phase, as the profile can do it. */
export function declared(phase: Phase, profile: ProfileName): Declared {
  const text = edited(created(), profile === "full" ? [] : alike, profile === "default" ? bound : []);
  return phase === "create"
    ? { text, count: 20, renewed: [], gone: [] }
    : {
        text: edited(text, changes),
        count: 19,
        renewed,
        gone: profile === "full" ? gone : [...gone, ...caches],
      };
}

/** A cloud account, networks, databases of every tier with references between them, one of them stopped, and users. */
function created(): string {
  const owner = `graphdbUser: app, graphdbPassword: "\${secret.first}"`;
  const node = `nodeInstanceType: m7g.large, ${owner}`;
  const large = `${node}, maxMemory: 1GB`;
  const user = (instance: string, username: string): string =>
    `{ instance: ${instance}, username: ${username}, password: "\${secret.first}", acl: "~* +PING" }`;
  return `apiVersion: graphform/v1
name: cut
service: { profile: cut.yaml }
secrets: { first: { env: FIRST }, second: { env: SECOND } }
defaults:
  instances: { cloudProvider: aws, region: us-east-1, lifecycle: { protect: false, onReplace: recreate } }
cloudAccounts:
  own:
    cloudProvider: aws
    config:
      aws_account_id: "123456789012"
      aws_bootstrap_role_arn: arn:aws:iam::123456789012:role/bootstrap
      account_configuration_method: CloudFormation
networks:
  core: { name: core, cloudProvider: aws, region: us-east-1, cidr: 10.20.0.0/16 }
  side: { name: side, cloudProvider: aws, region: us-east-1, cidr: 10.30.0.0/16 }
  spare: { name: spare, cloudProvider: aws, region: eu-west-1, cidr: 10.40.0.0/16 }
instances:
  vault: { tier: enterprise-byoa, component: standalone, cloudAccount: own, config: { name: vault, ${large} } }
  orders: { tier: enterprise, component: single-zone, network: core, config: { name: orders, description: first, ${large} } }
  carts: { tier: enterprise, component: standalone, network: side, config: { name: carts, ${large} } }
  stock: { tier: pro, component: standalone, power: stopped, config: { name: stock, ${node} } }
  find: { tier: pro, component: multi-zone, config: { name: find, description: "beside \${instances.orders.id}", ${node} } }
  logs: { tier: pro, component: standalone, config: { name: logs, ${node} } }
  cache:
    forEach: [us-east-1, eu-west-1, us-west-2]
    region: \${each.value}
    tier: startup
    component: standalone
    config: { name: "cache-\${each.key}", memoryRequestsAndLimits: 1200M, ${owner} }
  play: { tier: free, component: free, config: { name: play, ${owner} } }
users:
  a: ${user("orders", "anna")}
  b: ${user("orders", "bert")}
  c: ${user("carts", "carl")}
  d: ${user("vault", "dora")}
  e: ${user("logs", "elsa")}
  f: ${user("find", "fred")}
`;
}

type Edits = readonly (readonly [string | RegExp, string])[];

/** Databases that differ by nothing but their names, which nothing shows. */
const alike: Edits = [["region: ${each.value}", "region: us-west-2"]];

/** Networks that are there already. */
const bound: Edits = ["core", "side", "spare"].map((name) => [`  ${name}: {`, `  ${name}: { id: n-${name},`]);

const renewed: readonly string[] = [
  "instances.carts",
  "instances.stock",
  "instances.logs",
  "users.b",
  "users.d",
  "users.e",
];

const gone: readonly string[] = ["instances.play", "instances.logs", "users.c", "users.e"];

/** They move where they are alike. */
const caches = ["us-east-1", "eu-west-1", "us-west-2"].map((key) => `instances.cache["${key}"]`);

/** Updates in place, a start, replacements, deletions, a new user, other rights, other passwords. */
const changes: Edits = [
  ["description: first", "description: second"],
  ["power: stopped, ", ""],
  ["logs: { tier: pro,", "logs: { region: eu-west-1, tier: pro,"],
  ["region: us-west-2\n", "region: us-east-1\n"],
  ["name: spare,", "name: spare-2,"],
  [/ {2}play: .*\n/, ""],
  [/ {2}c: (.*)carl(.*)\n/, "  g: $1gina$2\n"],
  [/( {2}d: .*)\+PING/, "$1+PING +INFO"],
  ...renewed.map((address): [RegExp, string] => {
    const name = address.slice(address.indexOf(".") + 1);
    return [new RegExp(`^( {2}${name}: .*secret\\.)first`, "m"), "$1second"];
  }),
];

function edited(text: string, ...edits: readonly Edits[]): string {
  return edits.flat().reduce((before, [from, to]) => before.replace(from, to), text);
}
