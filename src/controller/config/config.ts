/** @module Defines the configuration of the controller, and the JSON Schema of controller.yaml. */
import type { GraphformError, SecretSource } from "../../index.ts";

interface TenantConfig {
  readonly service: {
    readonly [key in "profile" | "platformUrl" | "usersUrl" | "subscriptionId"]?: string;
  };
  readonly credentials?: { readonly [key in "username" | "password"]: SecretSource };
  readonly secrets: {
    readonly envPrefix?: string;
    readonly commands: { readonly [name: string]: { readonly [key in "run" | "env"]: readonly string[] } };
  };
  readonly auto: "safe" | "none";
  readonly maxConcurrent: number;
}

/** An address with its secret, for some tenants. Without `tenants` it is for all. */
interface Addressed {
  readonly url: string;
  readonly tenants?: readonly string[];
}

export interface ControllerConfig {
  readonly tenants: { readonly [name: string]: TenantConfig };
  readonly git: {
    readonly allow: readonly string[];
    readonly credentials: readonly (Addressed & {
      readonly username: string;
      readonly token: SecretSource;
    })[];
  };
  readonly webhooks: { readonly [name: string]: Addressed & { readonly secret: SecretSource } };
  readonly hooks: { readonly [sender in "github" | "gitlab"]?: SecretSource };
  readonly http: {
    readonly trustProxy: readonly string[];
    readonly tls?: { readonly [file in "certificate" | "key"]: string };
  };
}

export interface LiveConfig {
  current(): ControllerConfig;
  /** Reads the file again. A mistake in it, or one that `accept` rejects with, is returned, and leaves the last configuration in force. */
  reload(accept?: (next: ControllerConfig) => Promise<void>): Promise<GraphformError | undefined>;
}

type Rule = { readonly [keyword: string]: unknown };

const text: Rule = { type: "string", minLength: 1 };
const texts: Rule = { type: "array", items: text };
const keys: Rule = { type: "object", additionalProperties: false };
const program: Rule = { type: "array", minItems: 1, items: text };
export const tenantName: RegExp = /^[a-z][a-z0-9-]{0,62}$/;

const variable: Rule = { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]*$" };
const commandKeys = { run: program, env: { type: "array", items: variable } };
const command: Rule = {
  anyOf: [program, { ...keys, required: ["run"], properties: commandKeys }],
  description: "[program, argument], or { run: [program, argument], env: [NAME] }; no shell is involved.",
};

/** Rules by the names that the table of keys uses. A section may be left out, and so may a map of names. */
const types: { readonly [name: string]: Rule } = {
  text,
  // A path, from the folder of the file.
  file: text,
  profile: text,
  texts,
  keys,
  command,
  section: { ...keys, default: {} },
  names: { type: "object", propertyNames: { pattern: tenantName.source }, default: {} },
  list: { type: "array", default: [] },
  listed: { ...texts, default: [] },
  string: { type: "string" },
  url: { ...text, pattern: "^https?://[^\\s/?#@]+(/[^\\s]*)?$" },
  user: { ...text, default: "git" },
  prefix: { ...text, pattern: "^[A-Z][A-Z0-9_]*_$", examples: ["SHOP_"] },
  patterns: { ...texts, default: [], examples: [["https://git.example.com/*"]] },
  secret: { ...keys, minProperties: 1, maxProperties: 1, properties: { env: variable, file: text, command } },
  auto: { enum: ["safe", "none"], default: "none" },
  number: { type: "integer", minimum: 1, maximum: 1000, default: 4 },
};

/** The keys of controller.yaml with their types and descriptions; `*` is any name, or any entry of a list, and `!` a key that must be there. */
const table = `
$schema | string | For editors.
tenants | names | The tenants by name.
tenants.* | keys | A team, its service, and what its manifests may do.
tenants.*.service | section | The hosting service of its manifests. Left out: the local platform of the worker.
tenants.*.service.profile | profile | A built-in profile's name, or the path of a profile file, from this file.
tenants.*.service.platformUrl | url | URL of the platform host.
tenants.*.service.usersUrl | url | URL of the host of database users.
tenants.*.service.subscriptionId | text | The subscription that owns the resources.
tenants.*.credentials | keys | The login at the service. No manifest may read these variables.
tenants.*.credentials.username! | secret | Name of the user.
tenants.*.credentials.password! | secret | Password of the user.
tenants.*.secrets | section | Secrets that its manifests may use.
tenants.*.secrets.envPrefix | prefix | Beginning of the names of the environment variables that its manifests may name.
tenants.*.secrets.commands | names | Commands that its manifests may name as the first word.
tenants.*.secrets.commands.* | command |
tenants.*.auto | auto | What may be applied without a person.
tenants.*.maxConcurrent | number | Largest number of its applies at one time.
git | section | The repositories that manifests may come from.
git.allow | patterns | Patterns of addresses: scheme://host/path, with * at the end of the path, or as the first label of the host. \
file:// only where it is listed. A host that is written out may be in a private network.
git.credentials | list | Tokens, each for the addresses of a pattern. The first that fits is used.
git.credentials.* | keys | A token.
git.credentials.*.url! | text | Pattern of the addresses that it is sent to.
git.credentials.*.username | user | Name of the user; GitHub and GitLab take any.
git.credentials.*.token! | secret | The token.
git.credentials.*.tenants | texts | Names of the tenants that it is for. Left out: all.
webhooks | names | Receivers of outgoing webhooks by name.
webhooks.* | keys | A receiver of outgoing webhooks.
webhooks.*.url! | url | Its address.
webhooks.*.secret! | secret | The secret that the messages are signed with, as standardwebhooks has it.
webhooks.*.tenants | texts | Names of the tenants that it is for. Left out: all.
hooks | section | Secrets of incoming webhooks.
hooks.github | secret | Secret of the webhooks of GitHub.
hooks.gitlab | secret | Token of the webhooks of GitLab.
http | section | The server.
http.trustProxy | listed | Addresses, or networks as address/bits, of proxies whose X-Forwarded headers are believed.
http.tls | keys | Certificate of the server. Paths count from this file.
http.tls.certificate! | file | PEM file of the certificate chain.
http.tls.key! | file | PEM file of the key.`;

const rows = table
  .trim()
  .split("\n")
  .map((row) => row.split(" |"))
  .map(([at = "", cell = "", words = ""]) => {
    const path = `.${at}`.replace("!", "");
    const dot = path.lastIndexOf(".");
    const type = cell.trim();
    const forms =
      type === "secret" ? " { env: NAME }, { file: path } or { command: [program, argument] }." : "";
    const description = `${words.trim()}${forms}`;
    const rule: Rule = { ...(description && { description }), ...types[type] };
    const place = { parent: path.slice(0, dot), path, key: path.slice(dot + 1) };
    return { ...place, isRequired: at.endsWith("!"), type, rule };
  });

/** A valid value in which the functions of some types have replaced the written texts. */
export function mapTypes(
  value: unknown,
  change: { readonly [type: string]: (value: unknown) => unknown },
  path = "",
): unknown {
  const { type = "" } = rows.find((row) => row.path === path) ?? {};
  const own = change[type];
  if (own !== undefined) return own(value);
  if (Array.isArray(value)) return value.map((item) => mapTypes(item, change, `${path}.*`));
  if (typeof value !== "object" || value === null) return value;
  const isNamed = type === "names";
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    mapTypes(inner, change, `${path}.${isNamed ? "*" : key}`),
  ]);
  return Object.fromEntries(entries);
}

/** A rule with those of the keys below it. */
function withKeys(path: string, rule: Rule): Rule {
  const below = rows
    .filter(({ parent }) => parent === path)
    .map((row) => ({ ...row, rule: withKeys(row.path, row.rule) }));
  const [first] = below;
  if (first === undefined) return rule;
  if (first.key === "*")
    return { ...rule, [rule["type"] === "array" ? "items" : "additionalProperties"]: first.rule };
  const required = below.filter(({ isRequired }) => isRequired).map(({ key }) => key);
  return { ...rule, properties: Object.fromEntries(below.map(({ key, rule: own }) => [key, own])), required };
}

export const controllerSchema: Rule = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "graphform controller, version 1",
  ...withKeys("", { ...keys, description: "Configuration of graphform serve." }),
};
