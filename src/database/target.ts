/** @module Defines the address and credentials of a database. */
import type { Hide } from "../model/known-secrets.ts";

/** A database to connect to. */
export interface DatabaseTarget {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  /** True: TLS with the system's authorities; caFile: with the authorities of a PEM file. */
  readonly tls?: boolean | { readonly caFile?: string };
  /** Hides the secrets of the run in what the database says. */
  readonly hide?: Hide;
  /** Longest time for everything together, in ms. Default 2 s. */
  readonly timeout?: number;
}
