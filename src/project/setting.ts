/** @module Reads a setting from the environment. */

/** Returns a variable; an empty one counts as unset, because pipelines pass missing secrets as empty variables. */
export function setting(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name];
  return value === "" ? undefined : value;
}
