/** What is cut: the creation of twenty resources of all kinds, or changes of every sort to them. */
export const manifests: { readonly [phase in Phase]: { readonly text: string; readonly count: number } } = {
  create: { text: created(), count: 20 },
  update: { text: changed(created()), count: 19 },
};

export type Phase = "create" | "update";

/** A cloud account, networks, databases of every tier with references between them, one of them stopped, and users. */
function created(): string {
  const owner = `graphdbUser: app, graphdbPassword: "\${secret.password}"`;
  const node = `nodeInstanceType: m7g.large, ${owner}`;
  const large = `${node}, maxMemory: 1GB`;
  const user = (instance: string, username: string): string =>
    `{ instance: ${instance}, username: ${username}, password: "\${secret.password}", acl: "~* +PING" }`;
  return `apiVersion: graphform/v1
name: cut
service: { profile: full.yaml }
secrets: { password: { env: PASSWORD } }
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

/** Updates in place, a start, a replacement, deletions, a new user, other rights. */
function changed(text: string): string {
  const edits: readonly (readonly [string | RegExp, string])[] = [
    ["description: first", "description: second"],
    ["power: stopped, ", ""],
    ["logs: { tier: pro,", "logs: { region: eu-west-1, tier: pro,"],
    ["name: spare,", "name: spare-2,"],
    [/ {2}play: .*\n/, ""],
    [/ {2}c: (.*)carl(.*)\n/, "  g: $1gina$2\n"],
    [/( {2}d: .*)\+PING/, "$1+PING +INFO"],
  ];
  return edits.reduce((before, [from, to]) => before.replace(from, to), text);
}
