import type { Problem } from "../../src/model/errors.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { Profile } from "../../src/model/service.ts";
import { check } from "../manifest/check.ts";
import { testProfile } from "../manifest/test-profile.ts";

/** What is found in a manifest of these sections (YAML reads JSON), as `address code`, and the problems themselves. */
export interface Found {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly problems: readonly Problem[];
}

/** Checks a manifest that has these sections. */
export async function checkSections(sections: JsonObject, profile: Partial<Profile> = {}): Promise<Found> {
  const text = JSON.stringify({ apiVersion: "graphform/v1", name: "sample", ...sections }, null, 1);
  const { problems, warnings } = await check(text, { profile: { ...testProfile, ...profile } });
  const short = ({ address, code }: Problem): string => `${address ?? "-"} ${code}`;
  return { errors: problems.map(short), warnings: warnings.map(short), problems: [...problems, ...warnings] };
}

/** What each tier needs to be valid by itself. */
export const tierBase: { readonly [tier: string]: JsonObject } = {
  "enterprise-byoa": {
    tier: "enterprise-byoa",
    component: "standalone",
    cloudProvider: "aws",
    region: "us-east-1",
    cloudAccount: "own",
  },
  enterprise: { tier: "enterprise", component: "standalone", cloudProvider: "aws", region: "us-east-1" },
  pro: { tier: "pro", component: "standalone", cloudProvider: "aws", region: "us-east-1" },
  startup: { tier: "startup", component: "standalone", cloudProvider: "aws", region: "us-east-1" },
  free: { tier: "free", component: "free", cloudProvider: "aws", region: "us-east-1" },
};

/** An account and a network that the samples may name. */
export const companions: JsonObject = {
  cloudAccounts: {
    own: {
      cloudProvider: "aws",
      config: {
        aws_account_id: "123456789012",
        aws_bootstrap_role_arn: "arn:aws:iam::123456789012:role/bootstrap",
        account_configuration_method: "Terraform",
      },
    },
  },
  networks: { core: { id: "n-1", cloudProvider: "aws", region: "us-east-1" } },
};

/** Checks one instance, called `x`, beside the companions. */
export function checkOne(spec: JsonObject, profile: Partial<Profile> = {}): Promise<Found> {
  return checkSections({ ...companions, instances: { x: spec } }, profile);
}
