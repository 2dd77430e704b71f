/** A database and how to speak to it. */
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
