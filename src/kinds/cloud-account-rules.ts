/** @module Checks the fields that each cloud provider needs, refuses or allows. */

import { accountProviders, type ProviderFields } from "../fields/cloud-account.ts";
import type { Desired } from "../model/desired.ts";
import { isObject } from "../model/json.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import { isWritten, partOf, type Spec } from "../model/spec.ts";
import { findings, type Remark, remark } from "./rule-tools.ts";

export function checkCloudAccount(desired: Desired, context: RuleContext): readonly Finding[] {
  const { cloudProvider: provider, config: whole = {} } = desired.spec;
  const isGroup = isWritten(desired.spec, "config") && isObject(whole);
  if (typeof provider !== "string" || !Object.hasOwn(accountProviders, provider) || !isGroup) return [];
  const config = partOf(desired.spec, "config");
  const fields = accountProviders[provider];
  if (fields === undefined) return [];
  return findings(desired, context, [
    ...missing(provider, fields, config),
    ...foreign(provider, fields, config, context),
    ...method(provider, fields, config, context),
    ...ownRole(config),
    ...ownProject(config),
  ]);
}

function missing(provider: string, fields: ProviderFields, config: Spec): readonly Remark[] {
  const absent = fields.required.filter((name) => !isWritten(config, name));
  return absent.map((name) => {
    const isMethod = name === "account_configuration_method";
    const required = `required for ${provider}: ${fields.required.join(", ")}`;
    const hint = isMethod ? `allowed: ${fields.methods.join(", ")}` : required;
    return remark(
      "missing-key",
      "config",
      `"${name}" is missing in config: an account of ${provider} needs it`,
      hint,
    );
  });
}

function foreign(
  provider: string,
  fields: ProviderFields,
  config: Spec,
  context: RuleContext,
): readonly Remark[] {
  const own = [...fields.required, ...fields.optional];
  return Object.keys(config).flatMap((name): readonly Remark[] => {
    const owners = Object.keys(accountProviders).filter((other) => has(accountProviders[other], name));
    if (own.includes(name) || owners.length === 0) return [];
    const message = `config.${name} is no field of an account of ${provider}`;
    const hint = `it belongs to ${owners.join(", ")}; ${context.suggest(name, own, `fields of ${provider}`)}`;
    return [remark("provider-field", `config.${name}`, message, hint)];
  });
}

function has(fields: ProviderFields | undefined, name: string): boolean {
  return fields !== undefined && [...fields.required, ...fields.optional].includes(name);
}

function method(
  provider: string,
  fields: ProviderFields,
  config: Spec,
  context: RuleContext,
): readonly Remark[] {
  const path = "config.account_configuration_method";
  const written = config["account_configuration_method"];
  const known = Object.values(accountProviders).flatMap(({ methods }) => methods);
  if (typeof written !== "string" || fields.methods.includes(written) || !known.includes(written)) return [];
  const message = `an account of ${provider} cannot be set up by ${written}`;
  return [remark("not-allowed", path, message, context.suggest(written, fields.methods))];
}

/** arn:aws:iam::<AWS_ACCOUNT_ID>:role/<bootstrap_role_name>: the role is the account's own. */
function ownRole(config: Spec): readonly Remark[] {
  const path = "config.aws_bootstrap_role_arn";
  const { aws_account_id: account, aws_bootstrap_role_arn: role } = config;
  const [, owner] = typeof role === "string" ? (/^arn:aws:iam::([0-9]{12}):role\//.exec(role) ?? []) : [];
  if (owner === undefined || typeof account !== "string" || !/^[0-9]{12}$/.test(account) || owner === account)
    return [];
  const message = `${path} is a role of the account ${owner}, and aws_account_id is ${account}`;
  const hint = "write the role of this account, or correct aws_account_id";
  return [remark("account-mismatch", path, message, hint)];
}

/** bootstrap-<ORG_ID>@<GCP_PROJECT_ID>.iam.gserviceaccount.com: the account is the project's own. */
function ownProject(config: Spec): readonly Remark[] {
  const path = "config.gcp_service_account_email";
  const { gcp_project_id: project, gcp_service_account_email: email } = config;
  const [, owner] =
    typeof email === "string" ? (/^bootstrap-[^@]+@(.+)\.iam\.gserviceaccount\.com$/.exec(email) ?? []) : [];
  if (owner === undefined || typeof project !== "string" || owner === project) return [];
  const message = `${path} is of the project ${owner}, and gcp_project_id is ${project}`;
  const hint = "write the service account of this project, or correct gcp_project_id";
  return [remark("account-mismatch", path, message, hint)];
}
