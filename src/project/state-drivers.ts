/** @module Opens the driver of each shared store; the code of a protocol is loaded when the store is used first. */
import { defined } from "../model/json.ts";
import type { HttpLocation } from "../model/stores/http.ts";
import { httpCredentials } from "../model/stores/http.ts";
import type { StateLocation, StoreType } from "../model/stores/index.ts";
import { type PostgresLocation, postgres } from "../model/stores/postgres.ts";
import { placedBy, type S3Location } from "../model/stores/s3.ts";
import type { GetVariable } from "../model/stores/store.ts";
import type { StateDriver } from "../state/remote/driver.ts";
import type { Settings } from "./settings.ts";

/** The environment of a driver. */
export interface DriverOptions {
  readonly settings: Settings;
  /** True for the other end of a move, which may need credentials of its own. */
  readonly isOtherEnd: boolean;
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string;
}

/** Opens the driver of a location with the credentials of the environment. Throws `state-credentials`. */
interface Opener {
  open(location: StateLocation, options: DriverOptions): Promise<StateDriver>;
}

/** The openers, by the word of the store. */
export const drivers: { readonly [type in Exclude<StoreType, "file">]: Opener } = {
  http: {
    async open({ type: _, ...location }: HttpLocation, { settings, isOtherEnd, ...ca }) {
      const { createHttpDriver } = await import("../state/remote/http/http-driver.ts");
      const { value } = httpCredentials(location, settings.variable, isOtherEnd);
      return createHttpDriver({ ...location, ...ca }, () => value);
    },
  },
  s3: {
    async open(location: S3Location, { settings, isOtherEnd: _, ...ca }) {
      const { createS3Driver } = await import("../state/remote/s3/s3-driver.ts");
      const { awsCredentials } = await import("../state/remote/s3/aws-credentials.ts");
      const environment = settings.environment();
      const { type: __, ...placed } = placedBy(location, settings.variable);
      const credentials = awsCredentials({ environment, ...ca, ...defined({ region: placed.region }) });
      return createS3Driver({ ...placed, ...ca }, credentials);
    },
  },
  postgres: {
    async open({ type: _, ...location }: PostgresLocation, { settings, isOtherEnd }) {
      const { createPostgresDriver } = await import("../state/remote/postgres/postgres-driver.ts");
      return createPostgresDriver(location, postgresValues(settings.variable, isOtherEnd));
    },
  },
};

/** The variables that a database of a state is found and signed in to with, by the name that PostgreSQL has for each. */
export function postgresValues(
  variable: GetVariable,
  isOtherEnd = false,
): { readonly [variable: string]: string } {
  const { statePostgresUrl, stateToPostgresUrl, ...own } = postgres.variables;
  const url = variable((isOtherEnd ? stateToPostgresUrl : statePostgresUrl).name);
  const ambient = Object.values(own).map(({ name }) => [name, variable(name)]);
  const given = [...ambient, [statePostgresUrl.name, url]].filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
