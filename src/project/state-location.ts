/** @module Defines the places that a state can be kept in. */
import type { HttpStoreConfig } from "../state/remote/http/http-protocol.ts";
import type { PostgresConfig } from "../state/remote/postgres/connection-settings.ts";
import type { S3StoreConfig } from "../state/remote/s3/s3-request.ts";

/** A file, with a log and a lock beside it. */
export interface FileLocation {
  readonly type: "file";
  readonly path: string;
  /** The same path in the other of the two folders that it could be relative to. */
  readonly elsewhere?: string;
}

/** An address that speaks Terraform's HTTP protocol, or a dialect of it. */
export interface HttpLocation extends Omit<HttpStoreConfig, "timeout" | "ca"> {
  readonly type: "http";
}

/** An object in a bucket. */
export interface S3Location extends Omit<S3StoreConfig, "timeout" | "ca"> {
  readonly type: "s3";
}

/** A row in a database. `sslrootcert` is an absolute path. */
export interface PostgresLocation
  extends Omit<PostgresConfig, "versions" | "connectTimeout" | "requestTimeout"> {
  readonly type: "postgres";
}

/** A location that a state can be kept in. Holds no credentials. */
export type StateLocation = FileLocation | HttpLocation | S3Location | PostgresLocation;
