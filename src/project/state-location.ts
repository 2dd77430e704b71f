/** @module Defines the places that a state can be kept in. */
import type { HttpDialect, SslMode } from "../manifest/state-shape.ts";

/** A file, with a log and a lock beside it. */
export interface FileLocation {
  readonly type: "file";
  readonly path: string;
  /** The same path in the other of the two folders that it could be relative to. */
  readonly elsewhere?: string;
}

/** An address that speaks Terraform's HTTP protocol, or a dialect of it. */
export interface HttpLocation {
  readonly type: "http";
  readonly address: string;
  readonly lockAddress?: string;
  readonly unlockAddress?: string;
  readonly lockMethod?: string;
  readonly unlockMethod?: string;
  readonly updateMethod?: string;
  readonly dialect?: HttpDialect;
}

/** An object in a bucket. */
export interface S3Location {
  readonly type: "s3";
  readonly bucket: string;
  readonly key: string;
  readonly region?: string;
  readonly endpoint?: string;
  readonly pathStyle?: boolean;
}

/** A row in a database. */
export interface PostgresLocation {
  readonly type: "postgres";
  readonly name: string;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly schema?: string;
  readonly sslmode?: SslMode;
  /** Absolute path of a PEM file. */
  readonly sslrootcert?: string;
}

/** A location that a state can be kept in. Holds no credentials. */
export type StateLocation = FileLocation | HttpLocation | S3Location | PostgresLocation;
