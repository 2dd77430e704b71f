import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { type LocalPlatform, platformUp } from "../support/local-platform.ts";
import { fullProfile } from "../support/local-service.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

/** Each cloud: its settings, what a person runs to set the account up, and to give it back. */
const clouds: {
  readonly [provider: string]: {
    readonly config: JsonObject;
    readonly bootstrap: RegExp;
    readonly offboard: RegExp;
  };
} = {
  aws: {
    config: {
      aws_account_id: "123456789012",
      aws_bootstrap_role_arn: "arn:aws:iam::123456789012:role/bootstrap",
      account_configuration_method: "CloudFormation",
      private_link: "true",
    },
    bootstrap: /^https:\/\/\S+template\S+$/m,
    // The service gives aws no command for it: the person removes the stack.
    offboard: /offboard in the account/,
  },
  gcp: {
    config: {
      gcp_project_id: "my-project",
      gcp_project_number: "4711",
      gcp_service_account_email: "bootstrap-org@my-project.iam.gserviceaccount.com",
      account_configuration_method: "GCPScript",
    },
    bootstrap: /^sh bootstrap-gcp\.sh --account-config-id ac-\w+$/m,
    offboard: /^sh offboard-gcp\.sh --account-config-id ac-\w+$/m,
  },
  azure: {
    config: {
      azure_subscription_id: "sub-9",
      azure_tenant_id: "tenant-9",
      account_configuration_method: "AzureScript",
    },
    bootstrap: /^sh bootstrap-azure\.sh --account-config-id ac-\w+$/m,
    offboard: /^sh offboard-azure\.sh --account-config-id ac-\w+$/m,
  },
  oci: {
    config: {
      oci_tenancy_id: "ocid1.tenancy.9",
      oci_domain_id: "ocid1.domain.9",
      account_configuration_method: "OCIScript",
    },
    bootstrap: /^sh bootstrap-oci\.sh --account-config-id ac-\w+$/m,
    offboard: /^sh offboard-oci\.sh --account-config-id ac-\w+$/m,
  },
};
const providers = Object.keys(clouds).sort();

let user: Workspace;
let platform: LocalPlatform;

beforeAll(async () => {
  user = openWorkspace();
  user.env["PASSWORD"] = "long-enough-pass";
  copyFileSync(fullProfile, join(user.dir, "full.yaml"));
  platform = await platformUp(user, "--engine", "none", "--networks", "full", "--delay", "5");
});
afterAll(() => user.close());

/** A manifest with an account of each of these clouds, and a database in the first of them. */
function write(...declared: readonly string[]): void {
  const accounts = declared.map((provider) => [
    provider,
    { cloudProvider: provider, config: clouds[provider]?.config ?? {} },
  ]);
  const [first] = declared;
  const vault = {
    ...{
      tier: "enterprise-byoa",
      component: "standalone",
      cloudProvider: first,
      region: "us-east-1",
      cloudAccount: first,
    },
    lifecycle: { protect: false },
    config: { nodeInstanceType: "m7g.large", graphdbUser: "app", graphdbPassword: "${env.PASSWORD}" },
  };
  const manifest = {
    ...{ apiVersion: "graphform/v1", name: "accounts", service: { profile: "full.yaml" } },
    cloudAccounts: Object.fromEntries(accounts),
    ...(first === undefined ? {} : { instances: { vault } }),
    outputs: Object.fromEntries(
      declared.map((provider) => [provider, `\${cloudAccounts.${provider}.configId}`]),
    ),
  };
  user.write("graphform.yaml", JSON.stringify(manifest, null, 1));
}

/** Ids of the accounts in the state, by their cloud. */
function idOf(provider: string): string {
  return user.state("accounts").resources[`cloudAccounts.${provider}`]?.id ?? "";
}

/** A person does what the instructions say. */
async function person(step: "bootstrap" | "offboard", provider: string): Promise<void> {
  await platform.control("POST", `accounts/${idOf(provider)}/${step}`);
}

async function sent(): Promise<readonly string[]> {
  return (await platform.writes()).map(({ operation }) => operation);
}

const apply = ["apply", "--auto-approve"] as const;
const destroy = ["destroy", "--auto-approve"] as const;

describe("an account of each cloud", () => {
  it("is asked for once, with its settings and nothing else; what waits for a person ends with 8", async () => {
    write(...providers);
    await platform.forget();
    const ran = await user.run(...apply);
    expect(ran.code).toBe(8);
    const creates = (await platform.writes()).map(({ body }) => body);
    const expected = providers.map((provider) => ({
      cloud_provider: provider,
      // Specification 4.3: of the four, only aws repeats its name inside.
      requestParams: {
        ...(provider === "aws" ? { cloud_provider: "aws" } : {}),
        ...clouds[provider]?.config,
      },
    }));
    const byCloud = (body: JsonObject | undefined): string => String(body?.["cloud_provider"]);
    expect([...creates].sort((a, b) => byCloud(a).localeCompare(byCloud(b)))).toEqual(expected);
    expect(ran.out).toContain("the bootstrap must be run in the");
    // The database in the first account is not asked for before there is an account.
    expect(user.state("accounts").resources["instances.vault"]).toBeUndefined();
  });

  it.each(providers)("of %s says what the person must run", async (provider) => {
    const told = await user.run("account", "bootstrap", `cloudAccounts.${provider}`);
    expect(told).toMatchObject({ code: 8, out: expect.stringMatching(clouds[provider]?.bootstrap ?? /^$/) });
    const json: JsonObject = JSON.parse(
      (await user.run("account", "bootstrap", `cloudAccounts.${provider}`, "--json")).out,
    );
    expect(json).toMatchObject({
      id: idOf(provider),
      status: "PENDING",
      waits: true,
      configId: expect.stringMatching(/^ac-/),
    });
  });

  it("still waits in the next run, and is not asked for again", async () => {
    await platform.forget();
    expect(await user.run(...apply)).toMatchObject({ code: 8 });
    expect(await sent()).toEqual([]);
  });

  it("is ready once the person has run it, and the next run goes on with what lives in it", async () => {
    const ids = providers.map(idOf);
    for (const provider of providers) await person("bootstrap", provider);
    await platform.forget();
    expect(await user.run(...apply)).toMatchObject({ code: 0 });
    expect(providers.map(idOf)).toEqual(ids);
    const [create] = await platform.writes();
    expect(await sent()).toEqual(["create"]);
    const configId = (await user.run("output", "aws", "--raw")).out;
    expect(configId).toMatch(/^ac-/);
    expect(create?.body).toMatchObject({ requestParams: { cloud_provider_account_config_id: configId } });
    expect(await user.run("plan", "--detailed-exitcode")).toMatchObject({ code: 0 });
    const told = await user.run("account", "bootstrap", "cloudAccounts.aws");
    expect(told).toMatchObject({ code: 0, out: expect.stringContaining("nothing to run") });
  });

  it("cannot be changed: another setting is another account", async () => {
    const text = user.read("graphform.yaml");
    user.write("graphform.yaml", text.replace("tenant-9", "tenant-10"));
    const plan = await user.run("plan");
    expect(plan.out).toMatch(/± config\.azure_tenant_id +"tenant-9" \(?.*"tenant-10" +# forces replacement/);
    user.write("graphform.yaml", text);
  });

  it("is given back in two phases, with the person in between: 8, 8 while nothing was done, then 0", async () => {
    await platform.forget();
    expect(await user.run(...destroy)).toMatchObject({ code: 8 });
    // The database first, then the accounts.
    expect((await sent())[0]).toBe("delete");
    expect(Object.keys(user.state("accounts").resources)).toEqual(
      providers.map((provider) => `cloudAccounts.${provider}`),
    );
    expect(await user.run(...destroy)).toMatchObject({ code: 8 });
    for (const provider of providers) {
      const told = await user.run("account", "bootstrap", `cloudAccounts.${provider}`);
      expect(told).toMatchObject({ code: 8, out: expect.stringMatching(clouds[provider]?.offboard ?? /^$/) });
      await person("offboard", provider);
    }
    expect(await user.run(...destroy)).toMatchObject({ code: 0 });
    expect(user.state("accounts")).toMatchObject({ resources: {}, intents: {} });
  });
});

describe("an account that nobody set up", () => {
  it("is given up in one phase", async () => {
    write("oci");
    expect(await user.run(...apply)).toMatchObject({ code: 8 });
    expect(await user.run(...destroy)).toMatchObject({ code: 0 });
    expect(user.state("accounts").resources).toEqual({});
  });
});
