/** @module What the manifests of a tenant may see. */
import type { ControllerConfig } from "../config/config.ts";

export type ManifestLimits = object;

export function tenantWorld(
  tenant: string,
  config: ControllerConfig,
  env: NodeJS.ProcessEnv,
  _folder: string,
): {
  readonly env: { readonly [name: string]: string };
  readonly limits: ManifestLimits;
  readonly service: { readonly platformUrl?: string };
} {
  const given = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return { env: given, limits: {}, service: config.tenants[tenant]?.service ?? {} };
}
