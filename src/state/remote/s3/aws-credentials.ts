/** @module Finds the keys for AWS: in the environment, by a web identity token, or by AWS's own chain if it is installed. */
import { readFile } from "node:fs/promises";
import { fileTrouble } from "../../../files/file-trouble.ts";
import { defined, isObject, textIn } from "../../../model/json.ts";
import { singleFlight } from "../../../model/once.ts";
import { openSender, type Send } from "../store-http.ts";
import { checkedUrl, denied, unreachable } from "../store-refusals.ts";
import { type AwsCredentials, type AwsKeys, domainOf, element } from "./s3-request.ts";

export interface AwsCredentialOptions {
  /** The variables of the environment; those of AWS are read. */
  readonly environment: { readonly [name: string]: string | undefined };
  /** The region of the token service; that of the bucket. */
  readonly region?: string;
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string;
  /** Now, in ms since 1970. */
  readonly now?: () => number;
  /** Loads AWS's own chain; rejects if it is not installed. */
  readonly loadProviders?: LoadProviders;
}

/** Sessions are fetched again that long before they end, in ms: an apply must not end in the middle of one. */
const margin = 5 * 60_000;

/** Sessions are kept until shortly before they end. Sends nothing before it is called. */
export function awsCredentials(options: AwsCredentialOptions): AwsCredentials {
  const { environment, now = () => Date.now() } = options;
  const fetchKeys = singleFlight(sourceOf(options));
  let known: AwsKeys | undefined;
  return async (fresh = false) => {
    const fixed = environmentKeys(environment);
    if (fixed !== undefined) return fixed;
    if (known === undefined || fresh || (known.expires !== undefined && known.expires - margin <= now()))
      known = await fetchKeys();
    return known;
  };
}

/** Throws `state-denied` if only one half is set. */
function environmentKeys({
  AWS_ACCESS_KEY_ID: accessKeyId = "",
  AWS_SECRET_ACCESS_KEY: secretAccessKey = "",
  AWS_SESSION_TOKEN: sessionToken = "",
}: AwsCredentialOptions["environment"]): AwsKeys | undefined {
  if (accessKeyId === "" && secretAccessKey === "") return undefined;
  if (accessKeyId === "" || secretAccessKey === "") {
    const both = ["AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"];
    const [set, missing] = accessKeyId === "" ? both : both.toReversed();
    const why = `has no credentials: ${set} is set, and ${missing} is not`;
    throw denied("in S3", why, `set both, or unset ${set}`);
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken === "" ? {} : { sessionToken }) };
}

function sourceOf(options: AwsCredentialOptions): () => Promise<AwsKeys> {
  const { environment, region = "us-east-1", ca, loadProviders } = options;
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile = "", AWS_ROLE_ARN: role = "" } = environment;
  if (tokenFile === "" || role === "") return () => sdkKeys(loadProviders);
  const endpoint = environment["AWS_ENDPOINT_URL_STS"] ?? `https://sts.${region}.${domainOf(region)}`;
  const session = environment["AWS_ROLE_SESSION_NAME"] ?? "graphform";
  return async () => {
    const { send, close } = openSender(ca === undefined ? {} : { ca });
    return webIdentityKeys(send, { endpoint, tokenFile, role, session }).finally(close);
  };
}

/** Loads the package; rejects if it is not installed. */
type LoadProviders = () => Promise<unknown>;

/** Not bundled, and found only if it is installed beside graphform. */
const packageName = "@aws-sdk/credential-providers";

const loadPackage: LoadProviders = () => import(packageName);

/** Rejects with `state-denied` if the package is not installed, or finds nothing. */
async function sdkKeys(load: LoadProviders = loadPackage): Promise<AwsKeys> {
  const provide = await chainOf(load);
  let keys: unknown;
  try {
    keys = await provide();
  } catch {
    // Its message may repeat what a profile or a command of it holds.
    throw denied("in S3", "has no credentials: AWS's own chain of credentials finds none", hint);
  }
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = fieldsOf(keys);
  if (typeof accessKeyId !== "string" || typeof secretAccessKey !== "string")
    throw denied("in S3", "has no credentials: AWS's own chain of credentials gives no keys", hint);
  return {
    accessKeyId,
    secretAccessKey,
    ...(typeof sessionToken === "string" ? { sessionToken } : {}),
    ...(expiration instanceof Date ? { expires: expiration.getTime() } : {}),
  };
}

const hint =
  "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN";

async function chainOf(load: LoadProviders): Promise<() => unknown> {
  const providers = await load().catch(() => {
    throw denied(
      "in S3",
      "has no credentials",
      `${hint}; for profiles and the metadata of an instance, install ${packageName} beside graphform`,
    );
  });
  const make = fieldsOf(providers)["fromNodeProviderChain"];
  const provide: unknown = typeof make === "function" ? make() : undefined;
  if (typeof provide === "function") return () => provide();
  throw denied("in S3", `has no credentials: ${packageName} is not the package that it should be`, hint);
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return isObject(value) ? value : {};
}

/** Asks the token service (AssumeRoleWithWebIdentity). The token goes in the body, and into no message; pipelines write its file anew. */
async function webIdentityKeys(
  send: Send,
  {
    endpoint,
    tokenFile,
    role,
    session,
  }: { readonly [part in "endpoint" | "tokenFile" | "role" | "session"]: string },
): Promise<AwsKeys> {
  const url = checkedUrl(endpoint, "address of the token service (AWS_ENDPOINT_URL_STS)");
  const form = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: session,
    WebIdentityToken: await tokenIn(tokenFile),
  });
  const answer = await send({
    method: "POST",
    url,
    headers: {
      "user-agent": "graphform",
      accept: "application/xml",
      "content-type": "application/x-www-form-urlencoded",
    },
    body: Buffer.from(form.toString()),
  });
  const where = `in S3 (token service ${url.origin})`;
  if (answer.status >= 500 || answer.status === 429)
    throw unreachable(where, `gives no answer that counts (${answer.status})`);
  if (answer.status !== 200)
    throw denied(where, `gives no keys for the role ${role} (${answer.status})`, roleHint);
  const xml = answer.body.toString("utf8");
  const keys = element(
    xml,
    "AssumeRoleWithWebIdentityResponse",
    "AssumeRoleWithWebIdentityResult",
    "Credentials",
  );
  const [accessKeyId, secretAccessKey] = [textIn(keys["AccessKeyId"]), textIn(keys["SecretAccessKey"])];
  const [sessionToken, expiration] = [textIn(keys["SessionToken"]), textIn(keys["Expiration"])];
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw unreachable(where, "sent an answer without keys");
  const expires = Date.parse(expiration ?? "");
  return {
    accessKeyId,
    secretAccessKey,
    ...defined({ sessionToken }),
    ...(Number.isNaN(expires) ? {} : { expires }),
  };
}

const roleHint =
  "check AWS_ROLE_ARN, and that the role trusts the issuer of the token in AWS_WEB_IDENTITY_TOKEN_FILE";

async function tokenIn(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (cause) {
    throw denied(
      "in S3",
      `has no credentials: the token file ${file} cannot be read: ${fileTrouble(cause)}`,
      "AWS_WEB_IDENTITY_TOKEN_FILE must name the file that the pipeline writes",
    );
  }
}
