/** @module Keeps connections to servers alive, with trust in an authority besides the system's. */
import type { SecureContext } from "node:tls";
import { Pool } from "undici";

/** Options of `connectionPools`. */
export interface PoolOptions {
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string | undefined;
  /** Longest silence of a connection before its request is aborted, in ms. */
  readonly patience: number;
}

/** Connections by origin. */
export interface ConnectionPools {
  readonly of: (origin: string) => Pool;
  readonly all: () => readonly Pool[];
}

/** Free connections are dropped before servers usually do, so that no request is sent into one that is closing. */
const idle = 4000;

/** Opens connections with undici, a pool for each origin. Redirects are not followed, no proxy is used, nothing is sent twice. */
export function connectionPools({ ca, patience }: PoolOptions): ConnectionPools {
  const pools = new Map<string, Pool>();
  return {
    of(origin) {
      const known = pools.get(origin);
      if (known !== undefined) return known;
      const pool = new Pool(origin, {
        pipelining: 1,
        keepAliveTimeout: idle,
        keepAliveMaxTimeout: idle,
        headersTimeout: patience,
        bodyTimeout: patience,
        allowH2: false,
        connect: { timeout: patience, ...(ca === undefined ? {} : trusting(ca)) },
      });
      pools.set(origin, pool);
      return pool;
    },
    all: () => [...pools.values()],
  };
}

/**
 * Trust in an authority besides the system's, for all connections at once: a bare `ca` would replace them. TLS is loaded
 * here: it takes a third of the time that starting Node takes.
 */
function trusting(ca: string): { readonly secureContext: SecureContext } {
  const { createSecureContext, getCACertificates } = process.getBuiltinModule("node:tls");
  return { secureContext: createSecureContext({ ca: [...getCACertificates("default"), ca] }) };
}

/** True for the code of an error that is about a certificate. */
export function isAboutTrust(code: string): boolean {
  return /CERT|SIGNED|ISSUER|TLS|SSL|ALTNAME/.test(code);
}
