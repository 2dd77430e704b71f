/** @module Defines the address and credentials of a database. */
/** A database to connect to. */
export interface DatabaseTarget {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  /** True: TLS with the system's authorities; caFile: with the authorities of a PEM file. */
  readonly tls?: boolean | { readonly caFile?: string };
  /** Longest time for everything together, in ms. Default 2 s. */
  readonly timeout?: number;
}
