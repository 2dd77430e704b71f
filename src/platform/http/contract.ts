/** Version segment of every path of the platform host (specification 9). */
export const version: string = "/2022-09-01-00";

/** Media type of every error of the platform host (specification 7). */
export const errorMediaType: string = "application/vnd.goa.error";

/** Path prefix of the users host. */
export const usersPrefix: string = "/v1/customer-ldap";

/** Largest request body that is read, in bytes. */
export const largestBody: number = 1024 * 1024;

/** Largest body of a request that is answered without a session: credentials and tokens. */
export const largestOpenBody: number = 16 * 1024;
