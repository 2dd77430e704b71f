/** @module Checks the fields that each cloud provider needs, refuses or allows. */
import { accountProviders, type ProviderFields } from "../fields/cloud-account.ts";
import type { Desired } from "../model/desired.ts";
import { isObject, own } from "../model/json.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import { isWritten, partOf, type Spec } from "../model/spec.ts";
import { findings, type Remark, remark } from "./remarks.ts";

export function checkCloudAccount(desired: Desired, context: RuleContext): readonly Finding[] {
  const { cloudProvider = "", config: whole = {} } = desired.spec;
  const provider = String(cloudProvider);
  const fields = own(accountProviders, provider);
  if (fields === undefined || !isWritten(desired.spec, "config") || !isObject(whole)) return [];
  const account = { provider, fields, config: partOf(desired.spec, "config"), context };
  const remarks = rules.flatMap((rule) => rule(account));
  return findings(desired, context, remarks);
}

interface Account {
  readonly provider: string;
  readonly fields: ProviderFields;
  readonly config: Spec;
  readonly context: RuleContext;
}
type Rule = (account: Account) => readonly Remark[];

const missing: Rule = ({ provider, fields, config }) => {
  const absent = fields.required.filter((name) => !isWritten(config, name));
  return absent.map((name) => {
    const isMethod = name === "account_configuration_method";
    const required = `required for ${provider}: ${fields.required.join(", ")}`;
    const hint = isMethod ? `allowed: ${fields.methods.join(", ")}` : required;
    const message = `"${name}" is missing in config: an account of ${provider} needs it`;
    return remark("missing-key", "config", message, hint);
  });
};

const foreign: Rule = ({ provider, fields, config, context }) => {
  const providers = Object.entries(accountProviders);
  const mine = namesIn(fields);
  return Object.keys(config).flatMap((name): readonly Remark[] => {
    const owners = providers.flatMap(([other, each]) => (namesIn(each).includes(name) ? [other] : []));
    if (mine.includes(name) || owners.length === 0) return [];
    const message = `config.${name} is no field of an account of ${provider}`;
    const hint = `it belongs to ${owners.join(", ")}; ${context.suggest(name, mine, `fields of ${provider}`)}`;
    return [remark("provider-field", `config.${name}`, message, hint)];
  });
};

function namesIn({ required, optional }: ProviderFields): readonly string[] {
  return [...required, ...optional];
}

const method: Rule = ({ provider, fields, config, context }) => {
  const path = "config.account_configuration_method";
  const written = config["account_configuration_method"];
  const known = Object.values(accountProviders).flatMap(({ methods }) => methods);
  if (typeof written !== "string" || fields.methods.includes(written) || !known.includes(written)) return [];
  const message = `an account of ${provider} cannot be set up by ${written}`;
  return [remark("not-allowed", path, message, context.suggest(written, fields.methods))];
};

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

const ofAnother: Rule = ({ config }) =>
  owned.flatMap(({ name, of, valid, form, words: { is, right } }): readonly Remark[] => {
    const [value, mine] = [config[name], config[of]];
    const owner = typeof value === "string" ? form.exec(value)?.[1] : undefined;
    if (owner === undefined || typeof mine !== "string" || !valid.test(mine) || owner === mine) return [];
    const message = `config.${name} is ${is} ${owner}, and ${of} is ${mine}`;
    return [remark("account-mismatch", `config.${name}`, message, `write ${right}, or correct ${of}`)];
  });

const rules: readonly Rule[] = [missing, foreign, method, ofAnother];
