import { describe, expect, it } from "vitest";
import { defined, type Json, type JsonObject } from "../../src/model/json.ts";
import { checkOne, checkSections, companions, tierBase } from "./sample.ts";

const all = ["enterprise-byoa", "enterprise", "pro", "startup", "free"];
const paid = ["enterprise-byoa", "enterprise", "pro", "startup"];

/** Specification 2.2, "Availability of fields by tier", typed from its table. */
const settings: readonly (readonly [string, Json, readonly string[]])[] = [
  ["name", "orders", all],
  ["description", "the order graph", all],
  ["graphdbUser", "app", all],
  ["graphdbPassword", "$" + "{env.PASSWORD}", all],
  ["nodeInstanceType", "m7g.large", ["enterprise-byoa", "enterprise", "pro"]],
  ["enableTLS", true, paid],
  ["enableEnterpriseModule", true, ["enterprise-byoa", "enterprise"]],
  ["maxMemory", "6GB", ["enterprise-byoa", "enterprise"]],
  ["memoryRequestsAndLimits", "1200M", ["startup"]],
  ["AOFPersistenceConfig", "always", paid],
  ["RDBPersistenceConfig", "high", paid],
  ["graphDBCacheSize", 25, paid],
  ["graphDBMaxQueuedQueries", 50, paid],
  ["graphDBNodeCreationBuffer", 16_384, paid],
  ["graphDBQueryMemCapacity", 21_474_836_480, paid],
  ["graphDBResultSetSize", 10_000, paid],
  ["graphDBTimeoutDefault", 0, paid],
  ["graphDBTimeoutMax", 0, paid],
];

const matrix = settings.flatMap(([field, value, offered]) =>
  all.map((tier) => ({ field, value, tier, offered: offered.includes(tier) })),
);

describe("the tier matrix of specification 2.2", () => {
  it("has a row for each field on each tier; numReplicas has its own table", () => {
    expect(matrix).toHaveLength(18 * 5);
  });

  it.each(matrix)("$field on $tier: $offered", async ({ field, value, tier, offered }) => {
    const { errors, problems } = await checkOne({ ...tierBase[tier], config: { [field]: value } });
    expect(errors).toEqual(offered ? [] : ["instances.x tier-field"]);
    if (offered) return;
    expect(problems[0]?.message).toBe(`config.${field} is not offered by the ${tier} tier`);
    const tiersThatHaveIt = settings.find(([name]) => name === field)?.[2].join(", ");
    expect(problems[0]?.hint).toBe(`remove it; tiers that have it: ${tiersThatHaveIt}`);
  });

  /** numReplicas: Single-Zone and Multi-Zone of the first three tiers. */
  it.each([
    ["enterprise-byoa", "standalone", "component-field"],
    ["enterprise-byoa", "single-zone", undefined],
    ["enterprise-byoa", "multi-zone", undefined],
    ["enterprise", "standalone", "component-field"],
    ["enterprise", "single-zone", undefined],
    ["enterprise", "multi-zone", undefined],
    ["pro", "standalone", "component-field"],
    ["pro", "single-zone", undefined],
    ["pro", "multi-zone", undefined],
    ["startup", "standalone", "tier-field"],
    ["free", "free", "tier-field"],
  ])("numReplicas on %s %s: %s", async (tier, component, code) => {
    const { errors } = await checkOne({ ...tierBase[tier], component, config: { numReplicas: 2 } });
    expect(errors).toEqual(code === undefined ? [] : [`instances.x ${code}`]);
  });

  it.each([
    ["network", "core", ["enterprise"]],
    ["cloudAccount", "own", ["enterprise-byoa"]],
    ["nativeNetworkId", "vpc-1", ["enterprise-byoa"]],
  ])("%s only on its tier", async (field, value, offered) => {
    for (const tier of all) {
      const { errors } = await checkOne({ ...tierBase[tier], [field]: value });
      expect([tier, errors]).toEqual([tier, offered.includes(tier) ? [] : ["instances.x tier-field"]]);
    }
  });

  it("cloudAccount is required on enterprise-byoa, and only there", async () => {
    for (const tier of all) {
      const { cloudAccount: _, ...spec } = tierBase[tier] ?? {};
      const { errors } = await checkOne(spec);
      expect([tier, errors]).toEqual([tier, tier === "enterprise-byoa" ? ["instances.x missing-key"] : []]);
    }
  });

  it.each([
    ["enterprise-byoa", ["standalone", "single-zone", "multi-zone"], ["free", "cluster"]],
    ["enterprise", ["standalone", "single-zone", "multi-zone"], ["free"]],
    ["pro", ["standalone", "single-zone", "multi-zone"], ["free"]],
    ["startup", ["standalone"], ["single-zone", "multi-zone", "free"]],
    ["free", ["free"], ["standalone", "single-zone", "multi-zone"]],
  ])("components of %s", async (tier, has, lacks) => {
    for (const component of has)
      expect((await checkOne({ ...tierBase[tier], component })).errors).toEqual([]);
    for (const component of lacks) {
      const { errors, problems } = await checkOne({ ...tierBase[tier], component });
      expect(errors).toEqual(["instances.x unknown-component"]);
      expect(problems[0]?.hint).toContain(has.join(", "));
    }
  });
});

/** Each bound of specification 2.2: below it, at it and above it. */
describe("the bounds of specification 2.2", () => {
  const numbers: readonly (readonly [string, number, number])[] = [
    ["graphDBCacheSize", 1, 256],
    ["graphDBMaxQueuedQueries", 1, 512],
    ["graphDBNodeCreationBuffer", 256, 32_768],
    ["graphDBQueryMemCapacity", 5_242_880, 21_474_836_480],
    ["graphDBResultSetSize", 0, 1_000_000],
    ["graphDBTimeoutDefault", 0, 45_000],
    ["graphDBTimeoutMax", 0, 45_000],
  ];

  it.each(numbers)("%s from %i to %i", async (field, least, most) => {
    const tried: readonly (readonly [Json, string | undefined])[] = [
      [least - 1, "too-small"],
      [least, undefined],
      [least + 1, undefined],
      [most - 1, undefined],
      [most, undefined],
      [most + 1, "too-large"],
      [least + 0.5, "wrong-type"],
      [String(least), "wrong-type"],
      [true, "wrong-type"],
      [null, "wrong-type"],
    ];
    for (const [value, code] of tried) {
      const { errors } = await checkOne({ ...tierBase["enterprise"], config: { [field]: value } });
      expect([value, errors]).toEqual([value, code === undefined ? [] : [`instances.x ${code}`]]);
    }
  });

  const choices: readonly (readonly [string, JsonObject, readonly Json[], readonly Json[]])[] = [
    ["numReplicas", { ...tierBase["pro"], component: "multi-zone" }, [2], [0, 1, 3, "2"]],
    ["memoryRequestsAndLimits", tierBase["startup"] ?? {}, ["1200M", "2200M"], ["1GB", "2GB", "1200", 1200]],
    ["AOFPersistenceConfig", tierBase["pro"] ?? {}, ["everysec", "always"], ["no", "Always", true]],
    ["RDBPersistenceConfig", tierBase["pro"] ?? {}, ["low", "medium", "high"], ["none", "LOW", 1]],
    ["enableTLS", tierBase["pro"] ?? {}, [true, false], ["true", 1, "yes"]],
    ["enableEnterpriseModule", tierBase["enterprise"] ?? {}, [true, false], ["false", 0]],
    ["graphdbUser", tierBase["free"] ?? {}, ["app", "App_1", "_", "1"], ["a-b", "a b", "é", "", 1]],
    [
      "graphdbPassword",
      tierBase["free"] ?? {},
      ["p", "any password: é'\"", "$" + "{env.P}"],
      ["", 12_345, true],
    ],
    [
      "maxMemory",
      tierBase["enterprise"] ?? {},
      ["6GB", "6G", "512MB", "6Gi", "6442450944", "1.5GB"],
      ["lots", "0GB", "-1GB", "6XB", "", 6],
    ],
    ["name", tierBase["free"] ?? {}, ["orders", "Größe 1", "x".repeat(300)], [1, true, []]],
    ["nodeInstanceType", tierBase["enterprise"] ?? {}, ["m7g.large", "whatever.the.service.takes"], ["", 7]],
  ];

  it.each(choices)("%s", async (field, base, allowed, refused) => {
    for (const value of allowed) {
      expect([value, (await checkOne({ ...base, config: { [field]: value } })).errors]).toEqual([value, []]);
    }
    for (const value of refused) {
      const { errors } = await checkOne({ ...base, config: { [field]: value } });
      expect([value, errors.length]).toEqual([value, 1]);
    }
  });
});

describe("instance types and memory", () => {
  const sized = (maxMemory: string, nodeInstanceType: string): JsonObject => ({
    ...tierBase["enterprise"],
    config: { maxMemory, nodeInstanceType },
  });

  it.each([
    ["8GB", "m7g.large", true],
    ["8192MB", "m7g.large", true],
    ["8589934592", "m7g.large", true],
    ["8589934593", "m7g.large", false],
    ["8.001GB", "m7g.large", false],
    ["8G", "m7g.large", true],
    ["9G", "m7g.large", false],
    ["16GB", "r7g.large", true],
    ["64GB", "unheard.of", true],
  ])("maxMemory %s on %s: %s", async (size, type, fits) => {
    const { errors, problems } = await checkOne(sized(size, type));
    expect(errors).toEqual(fits ? [] : ["instances.x too-large"]);
    if (!fits) expect(problems[0]?.hint).toBe("at most 8GB, or take a larger type: r7g.large");
  });

  it("nothing is larger than the largest", async () => {
    const { problems } = await checkOne(sized("17GB", "r7g.large"));
    expect(problems[0]?.hint).toBe("at most 16GB");
  });

  it.each([
    ["pro", "aws", "m7g.large", undefined],
    ["pro", "aws", "m8g.large", 'did you mean "m7g.large"?'],
    ["pro", "aws", "e2-medium", "e2-medium is a type of gcp"],
    ["pro", "gcp", "e2-standard-2", undefined],
    ["pro", "azure", "Standard_D2s_v5", "types of pro on azure: none"],
    ["enterprise", "aws", "m8g.large", undefined],
    ["enterprise", "azure", "Standard_D2s_v5", undefined],
  ])("on %s in %s: %s", async (tier, cloudProvider, nodeInstanceType, hint) => {
    const { errors, problems } = await checkOne({
      ...tierBase[tier],
      cloudProvider,
      config: { nodeInstanceType },
    });
    expect(errors).toEqual(hint === undefined ? [] : ["instances.x unknown-type"]);
    if (hint !== undefined) expect(problems[0]?.hint).toContain(hint);
  });

  it.each([
    [10, 20, true],
    [20, 20, true],
    [21, 20, false],
    [45_000, 0, true],
    [1, undefined, true],
    [undefined, 1, true],
  ])("a default timeout of %s with a longest of %s: %s", async (usual, longest, fine) => {
    const config = {
      ...defined({ graphDBTimeoutDefault: usual, graphDBTimeoutMax: longest }),
    };
    expect((await checkOne({ ...tierBase["pro"], config })).errors).toEqual(
      fine ? [] : ["instances.x too-large"],
    );
  });
});

describe("what an instance shares with others", () => {
  const networks = (network: JsonObject): JsonObject => ({
    ...companions,
    networks: { core: { id: "n-1", cloudProvider: "aws", region: "us-east-1", ...network } },
    instances: { x: { ...tierBase["enterprise"], network: "core" } },
  });

  it.each([
    [{}, undefined],
    [{ region: "eu-west-1" }, "networks.core has region eu-west-1, and this instance has region us-east-1"],
    [
      { cloudProvider: "gcp" },
      "networks.core has cloudProvider gcp, and this instance has cloudProvider aws",
    ],
    [
      { cloudProvider: "gcp", region: "eu" },
      "networks.core has cloudProvider gcp and region eu, and this instance has cloudProvider aws and region us-east-1",
    ],
  ])("a network with %j", async (network, message) => {
    const { errors, problems } = await checkSections(networks(network));
    expect(errors).toEqual(message === undefined ? [] : ["instances.x place-mismatch"]);
    if (message !== undefined) expect(problems.map((problem) => problem.message)).toContain(message);
  });

  it("an account of another provider", async () => {
    const { errors, problems } = await checkOne({ ...tierBase["enterprise-byoa"], cloudProvider: "gcp" });
    expect(errors).toEqual(["instances.x place-mismatch"]);
    expect(problems[0]?.message).toBe(
      "cloudAccounts.own has cloudProvider aws, and this instance has cloudProvider gcp",
    );
  });
});

describe("what the profile has", () => {
  it.each([
    [["PUBLIC", "INTERNAL"], "INTERNAL", []],
    [["PUBLIC"], "INTERNAL", ["instances.x profile-field"]],
    [[], "PUBLIC", ["instances.x profile-field"]],
  ])("network types %j, asked for %s", async (networkTypes, networkType, expected) => {
    expect((await checkOne({ ...tierBase["pro"], networkType }, { networkTypes })).errors).toEqual(expected);
  });

  it("a tier that the profile lacks", async () => {
    const { errors, problems } = await checkOne(tierBase["free"] ?? {}, { tiers: {} });
    expect(errors).toContain("instances.x unknown-tier");
    expect(problems[0]?.message).toBe('the profile "test" has no tier free');
  });
});

describe("warnings", () => {
  const warningsOf = async (spec: JsonObject): Promise<readonly string[]> => (await checkOne(spec)).warnings;

  it("a result set of 0 rows", async () => {
    const zero = { ...tierBase["pro"], config: { graphDBResultSetSize: 0 } };
    expect(await warningsOf(zero)).toContain("instances.x no-rows");
    const one = { ...tierBase["pro"], config: { graphDBResultSetSize: 1 } };
    expect(await warningsOf(one)).not.toContain("instances.x no-rows");
  });

  it("a free instance that is protected", async () => {
    const said = async (tier: string, lifecycle: JsonObject): Promise<boolean> =>
      (await warningsOf({ ...tierBase[tier], lifecycle })).includes("instances.x protected-free");
    expect(await said("free", { protect: true })).toBe(true);
    expect(await said("free", { protect: false })).toBe(false);
    expect(await said("free", {})).toBe(false);
    expect(await said("startup", { protect: true })).toBe(false);
  });

  it.each([
    ["could not be deleted for want of a backup", "onDelete", "backup", "delete", "backup-free"],
    ["could not be moved for want of a copy", "onReplace", "migrate", "recreate", "migrate-free"],
  ])("a free instance that %s", async (_, key, value, other, code) => {
    const said = async (tier: string, lifecycle: JsonObject): Promise<boolean> =>
      (await warningsOf({ ...tierBase[tier], lifecycle })).includes(`instances.x ${code}`);
    expect(await said("free", { [key]: value })).toBe(true);
    expect(await said("free", { [key]: other })).toBe(false);
    expect(await said("startup", { [key]: value })).toBe(false);
  });

  it("create-only fields that are left to their defaults, only those that the tier offers", async () => {
    const { problems } = await checkOne({ ...tierBase["free"], config: {} });
    expect(problems.map(({ message }) => message)).toEqual([
      "not set here; the service's defaults apply and cannot be changed later: graphdbUser",
    ]);
    expect((await checkOne({ ...tierBase["free"], config: { graphdbUser: "app" } })).problems).toEqual([]);
  });

  it("those of many instances that leave the same are one warning", async () => {
    const free = tierBase["free"] ?? {};
    const named = { ...free, config: { graphdbUser: "app" } };
    const { warnings, problems } = await checkSections({
      instances: { a: named, b: free, c: free, d: free },
    });
    expect(warnings).toEqual(["instances.b create-only-default"]);
    expect(problems[0]?.message).toContain(
      "not set here, nor in 2 more; the service's defaults apply and cannot be changed later: graphdbUser",
    );
  });

  it("a password in clear, without the password", async () => {
    const { warnings, problems } = await checkOne({
      ...tierBase["free"],
      config: { graphdbPassword: "hunter2", graphdbUser: "app" },
    });
    expect(warnings).toEqual(["instances.x secret-literal"]);
    expect(JSON.stringify(problems)).not.toContain("hunter2");
  });
});
