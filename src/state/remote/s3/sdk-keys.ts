/** @module Asks AWS's own chain of credentials, where its package is installed: profiles, single sign-on, instance metadata. */
import { isObject } from "../../../model/json.ts";
import { denied } from "../wire/refusals.ts";
import type { AwsKeys } from "./aws-keys.ts";

/** Loads the package; rejects where it is not installed. */
export type LoadProviders = () => Promise<unknown>;

/** Not bundled, and found only where somebody has installed it beside graphform. */
const packageName = "@aws-sdk/credential-providers";

const loadPackage: LoadProviders = () => import(packageName);

/** Rejects with `state-denied` where the package is not installed, or finds nothing. */
export async function sdkKeys(load: LoadProviders = loadPackage): Promise<AwsKeys> {
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
