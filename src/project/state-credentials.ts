/** @module Finds the credentials for the store of a state in the environment, and says where they come from. */
import { GraphformError } from "../model/errors.ts";
import { type SettingKey, variables } from "./environment-variables.ts";
import type { Settings } from "./settings.ts";
import type { HttpLocation, StateLocation } from "./state-location.ts";

/** The side of a move; the two may need different credentials. */
export type Side = "state" | "stateTo";

/** Credentials of an HTTP store. */
export type HttpCredentials =
  | { readonly username: string; readonly password: string }
  | { readonly token: string };

/** Credentials with the names of the variables that they come from. */
export interface Sourced<T> {
  readonly value: T | undefined;
  /** For people; without a value. */
  readonly source: string;
}

/** Credentials for an HTTP store. Throws `state-credentials` where a half of them is set. */
export function httpCredentials(
  { address }: HttpLocation,
  settings: Settings,
  side: Side = "state",
): Sourced<HttpCredentials> {
  const keys: { readonly [part: string]: SettingKey } =
    side === "state"
      ? { username: "stateUsername", password: "statePassword", token: "stateToken" }
      : { username: "stateToUsername", password: "stateToPassword", token: "stateToToken" };
  const { username = "stateUsername", password = "statePassword", token = "stateToken" } = keys;
  const given = settings.get(token);
  if (given !== undefined) return { value: { token: given }, source: variables[token].name };
  const [user, secret] = [settings.get(username), settings.get(password)];
  const names = [variables[username].name, variables[password].name];
  if (user !== undefined && secret !== undefined)
    return { value: { username: user, password: secret }, source: names.join(" and ") };
  if (user !== undefined || secret !== undefined) {
    const missing = user === undefined ? names[0] : names[1];
    throw new GraphformError("state-credentials", `${missing} is not set, and the other half is`, {
      hint: `set ${names.join(" and ")}, or ${variables[token].name}`,
    });
  }
  const job = settings.get("ciJobToken");
  const api = URL.parse(settings.get("ciApiV4Url") ?? "");
  if (job !== undefined && api !== null && URL.parse(address)?.origin === api.origin)
    return { value: { username: "gitlab-ci-token", password: job }, source: variables.ciJobToken.name };
  return { value: undefined, source: `none: ${names.join(" and ")}, or ${variables[token].name}` };
}

/** The variables that a database of a state is found and signed in to with, by the name that PostgreSQL has for each. */
export function postgresValues(
  settings: Settings,
  side: Side = "state",
): { readonly [variable: string]: string } {
  const url = settings.get(side === "state" ? "statePostgresUrl" : "stateToPostgresUrl");
  const ambient = (["pgHost", "pgPort", "pgDatabase", "pgUser", "pgPassword"] as const).map(named);
  const secured = (["pgSslMode", "pgSslRootCert", "pgSslCert", "pgSslKey"] as const).map(named);
  const given = [...ambient, ...secured, [variables.statePostgresUrl.name, url] as const];
  return Object.fromEntries(
    given.filter((entry): entry is readonly [string, string] => entry[1] !== undefined),
  );

  function named(key: SettingKey): readonly [string, string | undefined] {
    return [variables[key].name, settings.get(key)];
  }
}

/** Names the source of the credentials for PostgreSQL. */
function postgresSource(settings: Settings): string {
  if (settings.get("statePostgresUrl") !== undefined) return variables.statePostgresUrl.name;
  if (settings.get("pgPassword") !== undefined) return variables.pgPassword.name;
  if (settings.get("pgSslKey") !== undefined) return variables.pgSslKey.name;
  return `none: ${variables.statePostgresUrl.name}, or PGUSER and PGPASSWORD`;
}

/** Names the source of the credentials for S3. */
function awsSource(settings: Settings): string {
  if (settings.get("awsAccessKeyId") !== undefined) return variables.awsAccessKeyId.name;
  if (settings.get("awsWebIdentityTokenFile") !== undefined) return variables.awsWebIdentityTokenFile.name;
  return "the platform's own chain (profile, container or instance)";
}

/** Names the source of the credentials for a location; never a value. */
export function credentialSource(location: StateLocation, settings: Settings): string {
  switch (location.type) {
    case "file":
      return "none needed";
    case "http":
      return httpCredentials(location, settings).source;
    case "s3":
      return awsSource(settings);
    case "postgres":
      return postgresSource(settings);
  }
}
