/** @module Checks the fields that each cloud provider needs, refuses or allows. */

import { accountProviders, type ProviderFields } from "../fields/cloud-account.ts";
import type { Desired } from "../model/desired.ts";
import { isObject } from "../model/json.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import { isWritten, partOf, type Spec } from "../model/spec.ts";
import { findings, type Remark, remark } from "./remarks.ts";

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
    ...ofAnother(config),
  ]);
}

function missing(provider: string, fields: ProviderFields, config: Spec): readonly Remark[] {
  const absent = fields.required.filter((name) => !isWritten(config, name));
  return absent.map((name) => {
    const isMethod = name === "account_configuration_method";
    const required = `required for ${provider}: ${fields.required.join(", ")}`;
    const hint = isMethod ? `allowed: ${fields.methods.join(", ")}` : required;
    const message = `"${name}" is missing in config: an account of ${provider} needs it`;
    return remark("missing-key", "config", message, hint);
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

/** Fields that name an account, in a form of their own, beside the field that is the account: both must name one. */
const owned = [
  {
    ...{ name: "aws_bootstrap_role_arn", of: "aws_account_id", valid: /^[0-9]{12}$/ },
    form: /^arn:aws:iam::([0-9]{12}):role\//,
    words: { is: "a role of the account", right: "the role of this account" },
  },
  {
    ...{ name: "gcp_service_account_email", of: "gcp_project_id", valid: /./ },
    form: /^bootstrap-[^@]+@(.+)\.iam\.gserviceaccount\.com$/,
    words: { is: "of the project", right: "the service account of this project" },
  },
];

function ofAnother(config: Spec): readonly Remark[] {
  return owned.flatMap(({ name, of, valid, form, words: { is, right } }): readonly Remark[] => {
    const [value, mine] = [config[name], config[of]];
    const owner = typeof value === "string" ? form.exec(value)?.[1] : undefined;
    if (owner === undefined || typeof mine !== "string" || !valid.test(mine) || owner === mine) return [];
    const message = `config.${name} is ${is} ${owner}, and ${of} is ${mine}`;
    return [remark("account-mismatch", `config.${name}`, message, `write ${right}, or correct ${of}`)];
  });
}
