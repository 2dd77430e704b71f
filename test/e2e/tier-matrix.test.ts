import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

/** Who has what, by the tables of specification 2.2, typed by hand: Enterprise BYOA, Enterprise, Pro, Startup, Free. */
const tiers = ["enterprise-byoa", "enterprise", "pro", "startup", "free"] as const;
const matrix: { readonly [field: string]: readonly [string, string] } = {
  name: ["any name", "yyyyy"],
  description: ["any words", "yyyyy"],
  graphdbUser: ["app_1", "yyyyy"],
  graphdbPassword: ['"${secret.pass}"', "yyyyy"],
  nodeInstanceType: ["m7g.large", "yyynn"],
  enableTLS: ["true", "yyyyn"],
  enableEnterpriseModule: ["true", "yynnn"],
  maxMemory: ["4GB", "yynnn"],
  memoryRequestsAndLimits: ["1200M", "nnnyn"],
  numReplicas: ["2", "yyynn"],
  AOFPersistenceConfig: ["always", "yyyyn"],
  RDBPersistenceConfig: ["high", "yyyyn"],
  graphDBCacheSize: ["26", "yyyyn"],
  graphDBMaxQueuedQueries: ["51", "yyyyn"],
  graphDBNodeCreationBuffer: ["512", "yyyyn"],
  graphDBQueryMemCapacity: ["5242881", "yyyyn"],
  graphDBResultSetSize: ["1", "yyyyn"],
  graphDBTimeoutDefault: ["1", "yyyyn"],
  graphDBTimeoutMax: ["1", "yyyyn"],
};

/** Each bound at, below and above it (specification 2.2). */
const bounds: readonly (readonly [field: string, accepted: readonly string[], refused: readonly string[]])[] =
  [
    ["graphDBCacheSize", ["1", "256"], ["0", "257", "1.5", '"25"', "true"]],
    ["graphDBMaxQueuedQueries", ["1", "512"], ["0", "513"]],
    ["graphDBNodeCreationBuffer", ["256", "32768"], ["255", "32769"]],
    ["graphDBQueryMemCapacity", ["5242880", "21474836480"], ["5242879", "21474836481"]],
    ["graphDBResultSetSize", ["0", "1000000"], ["-1", "1000001"]],
    ["graphDBTimeoutDefault", ["0", "45000"], ["-1", "45001"]],
    ["graphDBTimeoutMax", ["0", "45000"], ["-1", "45001"]],
    ["numReplicas", ["2"], ["1", "3", '"2"']],
    ["AOFPersistenceConfig", ["everysec", "always"], ["no", "Always"]],
    ["RDBPersistenceConfig", ["low", "medium", "high"], ["none", "1"]],
    ["enableTLS", ["true", "false"], ["yes", "1", '"true"']],
    ["enableEnterpriseModule", ["true", "false"], ["maybe"]],
    ["maxMemory", ["1GB", "8GB", "8192MB", "8G", "6.5GB"], ["9GB", "8193MB", "0GB", "much", "-1GB", "6"]],
    ["graphdbUser", ["a", "A_9"], ['""', "a-b", '"a b"', "ä"]],
    ["nodeInstanceType", ["m7g.large"], ['""', "7"]],
  ];

interface Diagnostic {
  readonly severity: string;
  readonly summary: string;
  readonly address?: string;
  readonly range?: {
    readonly filename: string;
    readonly start: { readonly line: number; readonly column: number };
  };
}

let user: Workspace;
beforeAll(() => {
  user = openWorkspace();
});
afterAll(() => user.close());

const head = `apiVersion: graphform/v1
name: matrix
service: { profile: default, platformUrl: "http://127.0.0.1:1" }
secrets: { pass: { env: UNSET_HERE } }
cloudAccounts:
  own:
    cloudProvider: aws
    config: { aws_account_id: "123456789012", aws_bootstrap_role_arn: "arn:aws:iam::123456789012:role/boot", account_configuration_method: Terraform }
defaults: { instances: { cloudProvider: aws, region: us-east-1 } }
instances:
`;

function componentOf(tier: string): string {
  return tier === "startup" ? "standalone" : tier === "free" ? "free" : "single-zone";
}

/** One instance, its field under test on the second of its two lines. */
function block(name: string, tier: string, field: string, value: string): string {
  const account = tier === "enterprise-byoa" ? ", cloudAccount: own" : "";
  return `  ${name}: { tier: ${tier}, component: ${componentOf(tier)}${account}, config: {\n    ${field}: ${value} } }\n`;
}

/** Lines of the manifest that `validate` finds errors on, each with what it says. */
async function errorsOf(manifest: string): Promise<ReadonlyMap<number, string>> {
  user.write("graphform.yaml", manifest);
  const ran = await user.run("validate", "--json");
  const { diagnostics, valid }: { diagnostics: readonly Diagnostic[]; valid: boolean } = JSON.parse(ran.out);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  expect([ran.code, valid]).toEqual(errors.length === 0 ? [0, true] : [3, false]);
  return new Map(errors.map(({ range, summary }): [number, string] => [range?.start.line ?? 0, summary]));
}

describe("the tier matrix", () => {
  it.each(tiers)("each of the 19 fields on %s", async (tier) => {
    const fields = Object.entries(matrix);
    expect(fields).toHaveLength(19);
    const manifest =
      head + fields.map(([field, [value]]) => block(field.toLowerCase(), tier, field, value)).join("");
    const errors = await errorsOf(manifest);
    const lines = manifest.split("\n");
    const refused = [...errors.keys()].map((line) => lines[line - 1]?.trim().split(":")[0]);
    const expected = fields
      .filter(([, [, offered]]) => offered[tiers.indexOf(tier)] === "n")
      .map(([field]) => field);
    expect(refused.toSorted()).toEqual(expected.toSorted());
    for (const summary of errors.values()) expect(summary).toContain(tier);
  });

  it("numReplicas is for single-zone and multi-zone, not for standalone", async () => {
    const on = (component: string): string =>
      `${head}  x: { tier: enterprise, component: ${component}, config: { numReplicas: 2 } }\n`;
    expect((await errorsOf(on("single-zone"))).size).toBe(0);
    expect((await errorsOf(on("multi-zone"))).size).toBe(0);
    expect((await errorsOf(on("standalone"))).size).toBe(1);
  });

  it("each bound at it, below and above", async () => {
    const all = bounds.flatMap(([field, accepted, refused]) => [
      ...accepted.map((value) => ({ field, value, isRefused: false })),
      ...refused.map((value) => ({ field, value, isRefused: true })),
    ]);
    const blocks = all.map(({ field, value }, at) =>
      block(
        `x${at}`,
        "enterprise",
        field,
        `${value}${field === "maxMemory" ? ", nodeInstanceType: m7g.large" : ""}`,
      ),
    );
    const manifest = head + blocks.join("");
    const lines = manifest.split("\n");
    const errors = await errorsOf(manifest);
    const refused = [...errors.keys()].map((line) =>
      lines[line - 1]?.trim().replace(/(, nodeInstanceType: m7g.large)? \} \}$/, ""),
    );
    const expected = all.filter(({ isRefused }) => isRefused).map(({ field, value }) => `${field}: ${value}`);
    expect(refused.toSorted()).toEqual(expected.toSorted());
  });

  it("a list of instance types on pro, any on enterprise", async () => {
    const on = (tier: string): string => head + block("x", tier, "nodeInstanceType", "z9.giant");
    expect((await errorsOf(on("enterprise"))).size).toBe(0);
    expect([...(await errorsOf(on("pro"))).values()]).toEqual([expect.stringContaining("z9.giant")]);
  });
});
