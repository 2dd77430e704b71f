/** @module Builds the environment of a tenant's manifests: variables, commands, and the service of the tenant. */
import { GraphformError, type ManifestLimits, readSecret, type SecretSource } from "../../index.ts";
import type { ControllerConfig } from "../config/config.ts";

export interface TenantEnvironment {
  /** All that a run may see of the environment: pass it to `loadManifest` and `openService`. */
  readonly env: { readonly [name: string]: string };
  readonly limits: ManifestLimits;
  /** For `openService`; `profile` for `loadManifest`. */
  readonly service: {
    readonly profile?: string;
    readonly platformUrl?: string;
    readonly usersUrl?: string;
    readonly subscription?: string;
  };
}

/** Variables that every program needs; none of them is a credential. */
const ordinary = ["PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "TZ", "TMPDIR"];

/** Returns the environment of a tenant's manifest in `folder`, with no login of the worker. Throws `unknown-tenant` and `secret-unavailable`. */
export async function tenantEnvironment(
  tenant: string,
  config: ControllerConfig,
  env: NodeJS.ProcessEnv,
  folder: string,
): Promise<TenantEnvironment> {
  const found = Object.hasOwn(config.tenants, tenant) ? config.tenants[tenant] : undefined;
  if (found === undefined)
    throw new GraphformError("unknown-tenant", `the configuration has no tenant "${tenant}"`, {
      hint: "add it to tenants, and send SIGHUP",
    });
  const { service, credentials, secrets } = found;
  const { envPrefix, commands } = secrets;
  const reserved = reservedVariables(config);
  const isGiven = (name: string): boolean =>
    ordinary.includes(name) ||
    (envPrefix !== undefined && name.startsWith(envPrefix) && !reserved.includes(name)) ||
    Object.values(commands).some((command) => command.env.includes(name));
  const given = Object.entries(env).flatMap(([name, value]): [string, string][] =>
    value !== undefined && isGiven(name) ? [[name, value]] : [],
  );
  const { subscriptionId, ...hosts } = service;
  return {
    env: {
      ...Object.fromEntries(given),
      // The sessions that `login` has stored on this machine belong to no tenant.
      XDG_STATE_HOME: "/nonexistent",
      ...(credentials && {
        GRAPHFORM_USERNAME: await readSecret(`the username of ${tenant}`, credentials.username, { env }),
        GRAPHFORM_PASSWORD: await readSecret(`the password of ${tenant}`, credentials.password, { env }),
      }),
      ...(env["GRAPHFORM_CA_FILE"] && { GRAPHFORM_CA_FILE: env["GRAPHFORM_CA_FILE"] }),
    },
    limits: { folder, commands, reserved, ...(envPrefix === undefined ? {} : { envPrefix }) },
    service: { ...hosts, ...(subscriptionId === undefined ? {} : { subscription: subscriptionId }) },
  };
}

/** The variables that the configuration itself reads: logins, tokens and signing secrets are not for manifests. */
function reservedVariables({ tenants, git, webhooks, hooks }: ControllerConfig): readonly string[] {
  const sources: readonly (SecretSource | undefined)[] = [
    ...Object.values(tenants).flatMap(({ credentials }) => [credentials?.username, credentials?.password]),
    ...Object.values(tenants).flatMap(({ secrets }) =>
      Object.values(secrets.commands).map(({ run, env }) => ({ command: run, variables: env })),
    ),
    ...git.credentials.map(({ token }) => token),
    ...Object.values(webhooks).map(({ secret }) => secret),
    hooks.github,
    hooks.gitlab,
  ];
  return sources.flatMap((source) => {
    if (source === undefined) return [];
    if ("env" in source) return [source.env];
    return "command" in source ? (source.variables ?? []) : [];
  });
}
