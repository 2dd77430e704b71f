/** Larger files are refused. */
const inOneFile = 10_000;

/** The files of a manifest with so many instances, for one `-f` each. */
export function benchFiles(instances: number, platformUrl: string): readonly string[] {
  const files = [benchManifest(Math.min(instances, inOneFile), platformUrl, instances)];
  for (let from = inOneFile; from < instances; from += inOneFile)
    files.push(`instances:\n${blocks(from, Math.min(instances, from + inOneFile))}`);
  return files;
}

/** A manifest with so many instances over three tiers, each with a handful of settings. */
export function benchManifest(instances: number, platformUrl: string, named: number = instances): string {
  const head = `apiVersion: graphform/v1
name: bench-${named}
service: { profile: default, platformUrl: "${platformUrl}", subscriptionId: sub-bench }
variables:
  region: { type: string, default: us-east-1 }
secrets:
  password: { env: BENCH_PASSWORD }
defaults:
  instances: { cloudProvider: aws }
instances:
`;
  return head + blocks(0, instances);
}

function blocks(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, at) => block(from + at)).join("");
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
