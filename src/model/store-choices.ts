/** @module Lists the values that the settings of a shared state choose from. */

/** Modes of TLS, by the names that libpq has for them; its `allow` and `prefer` fall back to plain text and are refused. */
export const sslModes = ["disable", "require", "verify-ca", "verify-full"] as const;

/** One mode of TLS. */
export type SslMode = (typeof sslModes)[number];

/** The HTTP protocols of a state that differ in small things: Terraform's own, GitLab's, and Gitea's (1.26 and later). */
export const httpDialects = ["plain", "gitlab", "gitea"] as const;

/** One of these protocols. */
export type HttpDialect = (typeof httpDialects)[number];
