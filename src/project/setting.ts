/** A setting of the environment; one that is empty, as pipelines leave secrets that they have not got, is not set. */
export function setting(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name];
  return value === "" ? undefined : value;
}
