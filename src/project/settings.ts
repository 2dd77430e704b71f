/** @module Reads the environment into settings, once. */
import { type KnownSecrets, knownSecrets } from "../model/known-secrets.ts";
import { storeVariables } from "../model/stores/index.ts";
import type { StoreVariable } from "../model/stores/store.ts";
import { loginsIn } from "../model/userinfo.ts";
import { type SettingKey, variables } from "./environment-variables.ts";

/** The variables of a process, by name. */
export type Environment = { readonly [name: string]: string | undefined };

/** The settings of a run. Their values live in closures: nothing that prints settings shows them. */
export interface Settings {
  /** Returns a value; an empty one counts as unset, because pipelines pass missing secrets as empty variables. */
  readonly get: (key: SettingKey) => string | undefined;
  /** Returns the value of a variable by its name, as `get` does. */
  readonly variable: (name: string) => string | undefined;
  /** Returns the whole environment: for secrets that name a variable, and for child processes. */
  readonly environment: () => Environment;
  /** The secrets of the run. The credentials of service, stores and forge, and logins in addresses, are known from the start. */
  readonly secrets: KnownSecrets;
}

/** Credentials of the service and of the forge. */
const credentials: readonly SettingKey[] = [
  ...(["password", "token", "githubToken", "gitlabToken", "ciJobToken"] as const),
];

/** Reads an environment into settings. */
export function settingsOf(environment: Environment): Settings {
  const values = new Map(
    Object.entries(variables).map(([key, { name }]) => [key, environment[name]] as const),
  );
  const secrets = knownSecrets();
  const ofStores = Object.values<StoreVariable>(storeVariables()).filter(({ isSecret }) => isSecret);
  secrets.add([
    ...credentials.map((key) => values.get(key)),
    ...ofStores.map(({ name }) => environment[name]),
  ]);
  for (const value of values.values()) secrets.add(loginsIn(value ?? null));
  return {
    secrets,
    get: (key) => {
      const value = values.get(key);
      return value === "" ? undefined : value;
    },
    variable: (name) => environment[name] || undefined,
    environment: () => environment,
  };
}
