/** @module Defines the configuration of the controller. */
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

/** A token for the repositories of a pattern. */
export interface GitCredential {
  readonly url: string;
  readonly username: string;
  readonly token: SecretSource;
  /** Undefined: of all tenants. */
  readonly tenants?: readonly string[];
}

/** A receiver of outgoing webhooks. */
export interface WebhookReceiver {
  readonly url: string;
  readonly secret: SecretSource;
  /** Undefined: of all tenants. */
  readonly tenants?: readonly string[];
}

export interface ControllerConfig {
  readonly tenants: { readonly [name: string]: TenantConfig };
  readonly git: { readonly allow: readonly string[]; readonly credentials: readonly GitCredential[] };
  /** By name. */
  readonly webhooks: { readonly [name: string]: WebhookReceiver };
  /** Secrets of incoming webhooks. */
  readonly hooks: { readonly github?: SecretSource; readonly gitlab?: SecretSource };
  readonly http: {
    /** Addresses and networks (`10.0.0.0/8`) of proxies. */
    readonly trustProxy: readonly string[];
    /** Absolute paths of PEM files. */
    readonly tls?: { readonly certificate: string; readonly key: string };
  };
}

/** The configuration in force. */
export interface LiveConfig {
  current(): ControllerConfig;
  /** Reads the file again. A mistake in it is returned, and leaves the last configuration in force. */
  reload(): Promise<GraphformError | undefined>;
}

/** The configuration without a file: one tenant, which uses the local platform; uploads alone. */
export const defaultConfig: ControllerConfig = {
  tenants: {
    default: { service: {}, secrets: { commands: {} }, auto: "none", maxConcurrent: 4 },
  },
  git: { allow: [], credentials: [] },
  webhooks: {},
  hooks: {},
  http: { trustProxy: [] },
};
