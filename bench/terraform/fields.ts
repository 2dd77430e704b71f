/** Source address of the bench's provider. */
export const source = "bench/graph";

/** Settings of an instance by the service's names, and their types in Terraform. */
export const settings: { readonly [name: string]: "string" | "number" } = {
  name: "string",
  description: "string",
  nodeInstanceType: "string",
  maxMemory: "string",
  memoryRequestsAndLimits: "string",
  graphdbUser: "string",
  graphdbPassword: "string",
  graphDBCacheSize: "number",
  graphDBTimeoutMax: "number",
};

/** Attribute of a setting in Terraform: `graphDBCacheSize` is `graph_db_cache_size`. */
export function attributeOf(setting: string): string {
  return setting.replace(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "_").toLowerCase();
}
