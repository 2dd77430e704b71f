import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at } from "../platform/harness.ts";
import { type Bench, startBench } from "./harness.ts";

const header = "apiVersion: graphform/v1\nname: accounts\n";
const accounts: readonly (readonly [string, string, string])[] = [
  [
    "aws",
    '{ aws_account_id: "123456789012", aws_bootstrap_role_arn: "arn:aws:iam::123456789012:role/boot", account_configuration_method: CloudFormation }',
    "https://bootstrap.invalid/",
  ],
  [
    "gcp",
    '{ gcp_project_id: p1, gcp_project_number: "1", gcp_service_account_email: bootstrap-o@p1.iam.gserviceaccount.com, account_configuration_method: GCPScript }',
    "sh bootstrap-gcp.sh",
  ],
  [
    "azure",
    "{ azure_subscription_id: s1, azure_tenant_id: t1, account_configuration_method: AzureScript }",
    "sh bootstrap-azure.sh",
  ],
  [
    "oci",
    "{ oci_tenancy_id: t1, oci_domain_id: d1, account_configuration_method: OCIScript }",
    "sh bootstrap-oci.sh",
  ],
];
const body = accounts
  .map(([provider, config]) => `  ${provider}: { cloudProvider: ${provider}, config: ${config} }\n`)
  .join("");

describe("cloud accounts wait for a person", () => {
  let bench: Bench;
  const idOf = async (name: string): Promise<string> =>
    String(at(await bench.state(), "resources", `cloudAccounts.${name}`, "id"));
  const person = async (verb: string): Promise<void> => {
    for (const [name] of accounts) {
      const { status, text } = await bench.test.call(
        "POST",
        `/_platform/accounts/${await idOf(name)}/${verb}`,
      );
      expect(status, text).toBe(200);
    }
  };

  beforeAll(async () => {
    bench = await startBench(`${header}cloudAccounts:\n${body}`);
  });
  afterAll(() => bench.close());

  it("apply ends with exit 8 and says what is to be run", async () => {
    const { code, out } = await bench.gf("apply", "--auto-approve");
    expect(code).toBe(8);
    expect(out.replace(/\s+/g, " ")).toContain("sh bootstrap-gcp.sh --account-config-id");
  });

  it.each(accounts)("account bootstrap shows the instructions of %s", async (name, _config, said) => {
    const { code, out } = await bench.gf("account", "bootstrap", `cloudAccounts.${name}`);
    expect([code, out]).toEqual([8, expect.stringContaining(said)]);
    const json = JSON.parse((await bench.gf("account", "bootstrap", `cloudAccounts.${name}`, "--json")).out);
    expect(json).toMatchObject({
      address: `cloudAccounts.${name}`,
      waits: true,
      bootstrap: expect.stringContaining(said),
    });
  });

  it("the next run resumes once the bootstrap was run, and then there is nothing to be run", {
    timeout: 240_000,
  }, async () => {
    await person("bootstrap");
    expect((await bench.gf("apply", "--auto-approve")).code).toBe(0);
    const shown = await bench.gf("account", "bootstrap", "cloudAccounts.gcp");
    expect([shown.code, shown.out]).toEqual([0, "cloudAccounts.gcp is READY: nothing to run.\n"]);
    const live = await bench.bare("import", "--all");
    expect([live.code, live.out]).toEqual([0, expect.stringContaining("gcp_project_id: p1")]);
  });

  it("deletion is in two phases, with the offboarding in between", async () => {
    expect((await bench.gf("destroy", "--auto-approve")).code).toBe(8);
    const { code, out } = await bench.gf("account", "bootstrap", "cloudAccounts.azure");
    expect([code, out]).toEqual([8, expect.stringContaining("sh offboard-azure.sh")]);
    expect(
      (await bench.gf("destroy", "--auto-approve")).code,
      "it goes on waiting and deletes nothing twice",
    ).toBe(8);
    await person("offboard");
    expect((await bench.gf("destroy", "--auto-approve")).code).toBe(0);
    expect((await bench.state())["resources"]).toEqual({});
  });
});
