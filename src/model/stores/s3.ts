/** @module Describes the store of a state in a bucket of S3. */
import { defined, textIn } from "../json.ts";
import { addressKey, urlRefusal } from "./http.ts";
import {
  type Form,
  type GetVariable,
  queryOf,
  type StoreDescription,
  textKey,
  unreadableAddress,
  type ValueRefusal,
} from "./store-description.ts";

export interface S3Location {
  readonly type: "s3";
  readonly bucket: string;
  /** The key of the state; its lock is `<key>.lock`. */
  readonly key: string;
  /** Default `us-east-1`. */
  readonly region?: string;
  /** Address of another service than AWS. */
  readonly endpoint?: string;
  /** `endpoint/bucket/key` instead of `bucket.endpoint/key`. Default: with an endpoint, and for buckets with dots. */
  readonly pathStyle?: boolean;
}

export const s3Forms: { readonly bucket: Form; readonly region: Form } = {
  bucket: {
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/u,
    is: "2 to 255 letters, digits, dots, - and _",
  },
  region: { pattern: /^[a-z0-9-]{1,40}$/u, is: "a region like eu-central-1" },
};

/** The reason to refuse the key of a state in a bucket: a part that is empty or dots. */
export function keyRefusal(key: string): ValueRefusal | undefined {
  const isOdd = key.split("/").some((part) => ["", ".", ".."].includes(part));
  return isOdd || key.length > 900
    ? refusal("a key that cannot be one", "write it like teams/orders/production.json")
    : undefined;
}

/** The reason to refuse a key that another state may have for its lock. */
function lockRefusal(key: string): ValueRefusal | undefined {
  const hint = "a lock is called KEY.lock: give the state another ending, like .json";
  return key.endsWith(".lock") ? refusal("a key that ends in .lock", hint) : undefined;
}

function refusal(what: string, hint: string): ValueRefusal {
  return { code: "bad-format", message: `the state has ${what}`, hint };
}

/** The reason to refuse the address of an S3 server: that of `urlRefusal`, or a query, which no request would have. */
export function endpointRefusal(text: string): ValueRefusal | undefined {
  const refused = urlRefusal(text, "endpoint");
  if (refused !== undefined || !text.includes("?")) return refused;
  return {
    code: "url-invalid",
    message: "the endpoint of the state has a query, and requests to it would not",
    hint: "leave out what follows the ?",
  };
}

const variables: StoreDescription<S3Location>["variables"] = {
  AWS_ACCESS_KEY_ID: { about: "Access key for a state in S3.", isSecret: true },
  AWS_SECRET_ACCESS_KEY: { about: "Secret of that key.", isSecret: true },
  AWS_SESSION_TOKEN: {
    about: "Session token that belongs to that key, if it is a temporary one.",
    isSecret: true,
  },
  AWS_REGION: { about: "Region of the bucket if the manifest names none." },
  AWS_DEFAULT_REGION: { about: "The same, if `AWS_REGION` is not set." },
  AWS_WEB_IDENTITY_TOKEN_FILE: {
    about: "File with the token that is exchanged for an access key, as in EKS.",
  },
  AWS_ROLE_ARN: { about: "Role that this token is exchanged for." },
  AWS_ROLE_SESSION_NAME: { about: "Name of that session." },
  AWS_ENDPOINT_URL_S3: { about: "Address of another S3 server, if the manifest names none." },
};

export const s3: StoreDescription<S3Location> = {
  place: "an S3 bucket",
  keys: {
    bucket: textKey("s3: name of the bucket.", { form: s3Forms.bucket, examples: ["company-states"] }),
    key: textKey("s3: key of the object. Left out: NAME.state.json.", {
      examples: ["shop/prod.state.json"],
      refusal: (value) => keyRefusal(value) ?? lockRefusal(value),
    }),
    region: textKey("s3: region of the bucket. Left out: that of AWS_REGION, or us-east-1.", {
      form: s3Forms.region,
      examples: ["eu-west-1"],
    }),
    endpoint: {
      ...addressKey("endpoint", "s3: address of another S3 server than Amazon's.", "https://s3.example.com"),
      refusal: endpointRefusal,
    },
    pathStyle: {
      type: "boolean",
      description: "s3: true puts the bucket into the path. Left out: true if there is an endpoint.",
    },
  },
  required: ["bucket"],
  variables,
  schemes: ["s3"],
  spelling: "s3://BUCKET/KEY",
  parameters: ["region", "endpoint", "pathStyle"],
  refusesStaleWrites: true,
  locksExpire: true,
  readAddress(url, given) {
    const key = decodeURIComponent(url.pathname.replace(/^\//, ""));
    if (url.hostname === "") throw unreadableAddress(given, "it names no bucket");
    return { bucket: url.host, ...(key === "" ? {} : { key }) };
  },
  locate(values, name) {
    const { pathStyle } = values;
    return {
      type: "s3",
      bucket: textIn(values["bucket"]) ?? "",
      key: textIn(values["key"]) ?? `${name}.state.json`,
      ...defined({ region: textIn(values["region"]), endpoint: textIn(values["endpoint"]) }),
      ...(typeof pathStyle === "boolean" ? { pathStyle } : {}),
    };
  },
  address({ bucket, key, region, endpoint, pathStyle }) {
    const path = key.split("/").map(encodeURIComponent).join("/");
    return `s3://${bucket}/${path}${queryOf({ region, endpoint, pathStyle })}`;
  },
  canonical: ({ type, bucket, key, endpoint }) => ({
    ...{ type, bucket, key },
    ...defined({ endpoint: endpoint && (URL.parse(endpoint)?.href ?? endpoint).replace(/\/$/, "") }),
  }),
  source: (_, variable) =>
    ["AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE"].find(variable) ??
    "the platform's own chain (profile, container or instance)",
  clock(location, variable) {
    const { endpoint, region = "us-east-1" } = placedBy(location, variable);
    return endpoint ?? `https://s3.${region}.amazonaws.com`;
  },
  pipeline: ({ region, endpoint }) => ({
    secrets: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
    variables: region === undefined && endpoint === undefined ? ["AWS_REGION"] : [],
  }),
};

/** The location with the region and the server that the environment names, if it says none itself. */
export function placedBy(location: S3Location, variable: GetVariable): S3Location {
  const region = location.region ?? variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION");
  const endpoint = location.endpoint ?? variable("AWS_ENDPOINT_URL_S3");
  return { ...location, ...defined({ region, endpoint }) };
}
