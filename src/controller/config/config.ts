/** @module Defines the configuration of the controller, and the JSON Schema of controller.yaml. */
import type { GraphformError, SecretSource } from "../../index.ts";

/** A program with its arguments, and the variables of the environment that it gets besides PATH, HOME and the locale. */
export interface NamedCommand {
  readonly run: readonly string[];
  readonly env: readonly string[];
}

export interface TenantConfig {
  /** The service of its manifests; the local platform if it names no platform URL. */
  readonly service: {
    readonly profile?: string;
    readonly platformUrl?: string;
    readonly usersUrl?: string;
    readonly subscriptionId?: string;
  };
  readonly credentials?: { readonly username: SecretSource; readonly password: SecretSource };
  readonly secrets: {
    readonly envPrefix?: string;
    readonly commands: { readonly [name: string]: NamedCommand };
  };
  readonly auto: "safe" | "none";
  readonly maxConcurrent: number;
}

export interface GitCredential {
  readonly url: string;
  readonly username: string;
  readonly token: SecretSource;
  /** Undefined: of all tenants. */
  readonly tenants?: readonly string[];
}

export interface WebhookReceiver {
  readonly url: string;
  readonly secret: SecretSource;
  /** Undefined: of all tenants. */
  readonly tenants?: readonly string[];
}

export interface ControllerConfig {
  readonly tenants: { readonly [name: string]: TenantConfig };
  readonly git: { readonly allow: readonly string[]; readonly credentials: readonly GitCredential[] };
  readonly webhooks: { readonly [name: string]: WebhookReceiver };
  readonly hooks: { readonly github?: SecretSource; readonly gitlab?: SecretSource };
  readonly http: {
    /** Addresses and networks (`10.0.0.0/8`) of proxies. */
    readonly trustProxy: readonly string[];
    /** Absolute paths of PEM files. */
    readonly tls?: { readonly certificate: string; readonly key: string };
  };
}

export interface LiveConfig {
  current(): ControllerConfig;
  /** Reads the file again. A mistake in it is returned, and leaves the last configuration in force. */
  reload(): Promise<GraphformError | undefined>;
}

type Rule = { readonly [keyword: string]: unknown };

function closed(
  description: string,
  properties: { readonly [key: string]: Rule },
  required: readonly string[] = [],
): Rule {
  return { type: "object", description, additionalProperties: false, properties, required };
}

function optional(rule: Rule): Rule {
  return { ...rule, default: {} };
}

function keyed(description: string, pattern: string, entry: Rule): Rule {
  return { type: "object", description, propertyNames: { pattern }, additionalProperties: entry };
}

function text(description: string, more: Rule = {}): Rule {
  return { type: "string", minLength: 1, description, ...more };
}

function texts(description: string, more: Rule = {}): Rule {
  return { type: "array", description, items: { type: "string", minLength: 1 }, ...more };
}

const variable = "^[A-Za-z_][A-Za-z0-9_]*$";
const word = "^[a-z][a-z0-9-]{0,62}$";

const program: Rule = { type: "array", minItems: 1, items: { type: "string", minLength: 1 } };

/** A program with its arguments, alone or with the variables that it gets. */
const command: Rule = {
  anyOf: [
    program,
    {
      type: "object",
      additionalProperties: false,
      required: ["run"],
      properties: {
        run: program,
        env: { type: "array", items: { type: "string", pattern: variable } },
      },
    },
  ],
  description: "[program, argument], or { run: [program, argument], env: [NAME] }; no shell is involved.",
};

function secret(description: string): Rule {
  return {
    description: `${description} { env: NAME }, { file: path } or { command: [program, argument] }.`,
    type: "object",
    additionalProperties: false,
    minProperties: 1,
    maxProperties: 1,
    properties: {
      env: { type: "string", pattern: variable },
      file: { type: "string", minLength: 1 },
      command,
    },
  };
}

const url: Rule = { pattern: "^https?://[^\\s/?#@]+(/[^\\s]*)?$" };

const tenants = texts("Names of the tenants that it is for. Left out: all.");

const tenant: Rule = closed("A team, its service, and what its manifests may do.", {
  service: optional(
    closed("The hosting service of its manifests. Left out: the local platform of the worker.", {
      profile: text("A built-in profile's name, or the path of a profile file, from this file."),
      platformUrl: text("URL of the platform host.", url),
      usersUrl: text("URL of the host of database users.", url),
      subscriptionId: text("The subscription that owns the resources."),
    }),
  ),
  credentials: closed(
    "The login at the service. No manifest may read these variables.",
    { username: secret("Name of the user."), password: secret("Password of the user.") },
    ["username", "password"],
  ),
  secrets: optional(
    closed("Secrets that its manifests may use.", {
      envPrefix: text("Beginning of the names of the environment variables that its manifests may name.", {
        pattern: "^[A-Z][A-Z0-9_]*_$",
        examples: ["SHOP_"],
      }),
      commands: optional(keyed("Commands that its manifests may name as the first word.", word, command)),
    }),
  ),
  auto: {
    enum: ["safe", "none"],
    default: "none",
    description: "What may be applied without a person.",
  },
  maxConcurrent: {
    type: "integer",
    minimum: 1,
    maximum: 1000,
    default: 4,
    description: "Largest number of its applies at one time.",
  },
});

const git: Rule = optional(
  closed("The repositories that manifests may come from.", {
    allow: texts(
      "Patterns of addresses: scheme://host/path, with * at the end of the path, or as the first label of the host. file:// only where it is listed. A host that is written out may be in a private network.",
      { examples: [["https://git.example.com/*"]], default: [] },
    ),
    credentials: {
      type: "array",
      default: [],
      description: "Tokens, each for the addresses of a pattern. The first that fits is used.",
      items: closed(
        "A token.",
        {
          url: text("Pattern of the addresses that it is sent to."),
          username: text("Name of the user; GitHub and GitLab take any.", { default: "git" }),
          token: secret("The token."),
          tenants,
        },
        ["url", "token"],
      ),
    },
  }),
);

const webhook: Rule = closed(
  "A receiver of outgoing webhooks.",
  {
    url: text("Its address.", url),
    secret: secret("The secret that the messages are signed with, as standardwebhooks has it."),
    tenants,
  },
  ["url", "secret"],
);

export const controllerSchema: Rule = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "graphform controller, version 1",
  ...closed("Configuration of graphform serve.", {
    $schema: { type: "string", description: "For editors." },
    tenants: optional(keyed("The tenants by name.", word, tenant)),
    git,
    webhooks: optional(keyed("Receivers of outgoing webhooks by name.", word, webhook)),
    hooks: optional(
      closed("Secrets of incoming webhooks.", {
        github: secret("Secret of the webhooks of GitHub."),
        gitlab: secret("Token of the webhooks of GitLab."),
      }),
    ),
    http: optional(
      closed("The server.", {
        trustProxy: texts(
          "Addresses, or networks as address/bits, of proxies whose X-Forwarded headers are believed.",
          { default: [] },
        ),
        tls: closed(
          "Certificate of the server. Paths count from this file.",
          { certificate: text("PEM file of the certificate chain."), key: text("PEM file of the key.") },
          ["certificate", "key"],
        ),
      }),
    ),
  }),
};
