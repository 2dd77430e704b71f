/** @module Lists the fixed paths, media types and size limits of both hosts. */
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
