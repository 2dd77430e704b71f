/** @module Lists the paths, media types and size limits of both hosts. */
import type { Dialect } from "../dialect/dialect.ts";

/** Version segment of every path of the platform host. */
export const version: string = "/2022-09-01-00";

/** Media type of every error of the platform host. */
export const errorMediaType: string = "application/vnd.goa.error";

/** Path prefix of the users host. */
export const usersPrefix: string = "/v1/customer-ldap";

/** Maximum size of a request body, in bytes. */
export const largestBody: number = 1024 * 1024;

/** Maximum size of a body without a session (credentials and tokens), in bytes. */
export const largestOpenBody: number = 16 * 1024;

/** Path with the parameters `:model`, `:tier` and `:resource`. */
export function componentPath({ provider, service }: Dialect): string {
  return `${version}/resource-instance/${provider}/${service}/v1/prod/:model/:tier/:resource`;
}
