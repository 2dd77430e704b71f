/** @module Holds the schema of a manifest's `state` section. */
import { httpDialects, sslModes } from "../../model/store-choices.ts";
import { type Form, storeForms } from "../../model/store-forms.ts";
import type { Shape } from "./shape.ts";

/** The stores that a state can be kept in, by the word that the manifest has for each. */
export const storeTypes = ["file", "http", "s3", "postgres"] as const;

export type StoreType = (typeof storeTypes)[number];

/** The keys of each type; `required` are those without which it cannot be found. */
export const storeKeys: {
  readonly [type in StoreType]: { readonly keys: readonly string[]; readonly required: readonly string[] };
} = {
  file: { keys: ["path"], required: [] },
  http: {
    keys: [
      ...["address", "lockAddress", "unlockAddress"],
      ...["lockMethod", "unlockMethod", "updateMethod", "dialect"],
    ],
    required: ["address"],
  },
  s3: { keys: ["bucket", "key", "region", "endpoint", "pathStyle"], required: ["bucket"] },
  postgres: { keys: ["host", "port", "database", "schema", "name", "sslmode", "sslrootcert"], required: [] },
};

function text(description: string, more: Shape = {}): Shape {
  return { type: "string", minLength: 1, description, ...more };
}

function address(description: string, example: string): Shape {
  return text(description, { pattern: "^https?://[^\\s/][^\\s]*$", examples: [example] });
}

/** A text of a form that has no room for a password. */
function formed(description: string, { pattern, is }: Form, more: Shape = {}): Shape {
  const source = pattern.source.replaceAll("\\/", "/");
  return text(`${description} It must be ${is}.`, { pattern: source, ...more });
}

const methods = (first: string): Shape => ({ enum: [...new Set([first, "POST", "PUT"])] });

const properties: { readonly [name: string]: Shape } = {
  type: text("The store: a file, an HTTP address, an S3 bucket or a PostgreSQL database. Left out: a file.", {
    enum: [...storeTypes],
  }),
  backend: text("Another word for type.", { enum: [...storeTypes] }),
  path: text("file: path, relative to the current folder."),
  address: address(
    "http: address of the state, without user and password.",
    "https://gitlab.example.com/api/v4/projects/7/terraform/state/shop",
  ),
  lockAddress: address(
    "http: address of its lock. Left out: as the dialect has it.",
    "https://states.example.com/shop/lock",
  ),
  unlockAddress: address("http: address to unlock at.", "https://states.example.com/shop/lock"),
  lockMethod: text("http: method that locks.", methods("LOCK")),
  unlockMethod: text("http: method that unlocks.", { enum: ["UNLOCK", "DELETE", "POST", "PUT"] }),
  updateMethod: text("http: method that stores.", methods("POST")),
  dialect: text("http: dialect of the protocol. Left out: taken from the address, or plain.", {
    enum: [...httpDialects],
  }),
  bucket: formed("s3: name of the bucket.", storeForms.bucket, { examples: ["company-states"] }),
  key: text("s3: key of the object. Left out: NAME.state.json.", { examples: ["shop/prod.state.json"] }),
  region: formed("s3: region of the bucket. Left out: that of AWS_REGION, or us-east-1.", storeForms.region, {
    examples: ["eu-west-1"],
  }),
  endpoint: address("s3: address of another S3 server than Amazon's.", "https://s3.example.com"),
  pathStyle: {
    type: "boolean",
    description: "s3: true puts the bucket into the path. Left out: true where there is an endpoint.",
  },
  host: formed("postgres: host. Left out: that of PGHOST, or localhost.", storeForms.host, {
    examples: ["db.example.com"],
  }),
  port: {
    type: "integer",
    minimum: 1,
    maximum: 65_535,
    description: "postgres: port. Left out: that of PGPORT, or 5432.",
  },
  database: formed("postgres: database. Left out: that of PGDATABASE.", storeForms.database, {
    examples: ["states"],
  }),
  schema: formed("postgres: schema of the tables. Left out: graphform.", storeForms.schema, {
    examples: ["graphform"],
  }),
  name: formed("postgres: name of the state in its table. Left out: the manifest's name.", storeForms.name, {
    examples: ["shop"],
  }),
  sslmode: text(
    "postgres: how the connection is secured. Left out: that of PGSSLMODE, or verify-full but for this machine.",
    {
      enum: [...sslModes],
    },
  ),
  sslrootcert: formed(
    "postgres: PEM file of the authority that its certificate is checked with.",
    storeForms.sslrootcert,
    { examples: ["/etc/ssl/company.pem"] },
  ),
};

/** The `state` section. Which keys a type has is checked by `stateFaults`. */
export const stateShape: Shape = {
  type: "object",
  additionalProperties: false,
  properties,
  required: [],
  description:
    "Where the state is kept. Left out: .graphform/NAME.state.json beside the manifest. Credentials come from the environment.",
};
