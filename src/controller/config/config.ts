/** @module Types of controller.yaml. */

export interface TenantConfig {
  readonly service: {
    readonly profile?: string;
    readonly platformUrl?: string;
    readonly usersUrl?: string;
    readonly subscriptionId?: string;
  };
  readonly auto: "safe" | "none";
  readonly maxConcurrent: number;
}

export interface ControllerConfig {
  readonly tenants: { readonly [name: string]: TenantConfig };
}

export interface LiveConfig {
  current(): ControllerConfig;
}
