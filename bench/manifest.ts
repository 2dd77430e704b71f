/** A manifest with so many instances over three tiers, each with a handful of settings. */
export function benchManifest(instances: number, platformUrl: string): string {
  const head = `apiVersion: graphform/v1
name: bench-${instances}
service: { profile: default, platformUrl: "${platformUrl}", subscriptionId: sub-bench }
variables:
  region: { type: string, default: us-east-1 }
secrets:
  password: { env: BENCH_PASSWORD }
defaults:
  instances: { cloudProvider: aws }
instances:
`;
  return head + Array.from({ length: instances }, (_, index) => block(index)).join("");
}

function block(index: number): string {
  const [tier, component, more] = tiers[index % tiers.length] ?? ["pro", "standalone", ""];
  return `  graph-${index}:
    tier: ${tier}
    component: ${component}
    region: \${var.region}
    config:
      name: graph-${index}
      description: "number ${index} of the bench"${more}
      graphdbUser: app
      graphdbPassword: \${secret.password}
      graphDBCacheSize: ${1 + (index % 256)}
      graphDBTimeoutMax: 30000
    lifecycle: { protect: true }
`;
}

const sized = "\n      nodeInstanceType: m7g.large";
const tiers: readonly (readonly [tier: string, component: string, more: string])[] = [
  ["enterprise", "single-zone", `${sized}\n      maxMemory: 6GB`],
  ["pro", "standalone", sized],
  ["startup", "standalone", "\n      memoryRequestsAndLimits: 2200M"],
];
