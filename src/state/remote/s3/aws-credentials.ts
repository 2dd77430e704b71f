/** @module Finds the keys for AWS: in the environment, by a web identity token, or by AWS's own chain where it is installed. */
import { denied } from "../wire/refusals.ts";
import { openSender } from "../wire/send.ts";
import type { AwsCredentials, AwsKeys } from "./aws-keys.ts";
import { type LoadProviders, sdkKeys } from "./sdk-keys.ts";
import { webIdentityKeys } from "./web-identity.ts";

/** Options of `awsCredentials`. */
export interface AwsCredentialOptions {
  /** The variables of the environment; those of AWS are read. */
  readonly environment: { readonly [name: string]: string | undefined };
  /** The region of the token service; that of the bucket. */
  readonly region?: string;
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string;
  /** Now, in ms since 1970. */
  readonly now?: () => number;
  /** Loads AWS's own chain; rejects where it is not installed. */
  readonly loadProviders?: LoadProviders;
}

/** Sessions are fetched again that long before they end, in ms: an apply must not end in the middle of one. */
const margin = 5 * 60_000;

/**
 * Keys of the environment, else of a role by its web identity token, else of AWS's own chain (profiles, instance metadata).
 * Sessions are kept until shortly before they end. Sends nothing before it is called.
 */
export function awsCredentials(options: AwsCredentialOptions): AwsCredentials {
  const { environment, now = () => Date.now() } = options;
  const fetchKeys = sourceOf(options);
  let known: AwsKeys | undefined;
  let fetching: Promise<AwsKeys> | undefined;
  const fetchOnce = (): Promise<AwsKeys> => {
    fetching ??= fetchKeys().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  return async (fresh = false) => {
    const fixed = environmentKeys(environment);
    if (fixed !== undefined) return fixed;
    if (known === undefined || fresh || (known.expires !== undefined && known.expires - margin <= now()))
      known = await fetchOnce();
    return known;
  };
}

/** Throws `state-denied` where only one half is set. */
function environmentKeys({
  AWS_ACCESS_KEY_ID: accessKeyId = "",
  AWS_SECRET_ACCESS_KEY: secretAccessKey = "",
  AWS_SESSION_TOKEN: sessionToken = "",
}: AwsCredentialOptions["environment"]): AwsKeys | undefined {
  if (accessKeyId === "" && secretAccessKey === "") return undefined;
  if (accessKeyId === "" || secretAccessKey === "") {
    const [set, missing] =
      accessKeyId === ""
        ? ["AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"]
        : ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    throw denied(
      "in S3",
      `has no credentials: ${set} is set, and ${missing} is not`,
      `set both, or unset ${set}`,
    );
  }
  return { accessKeyId, secretAccessKey, ...(sessionToken === "" ? {} : { sessionToken }) };
}

function sourceOf(options: AwsCredentialOptions): () => Promise<AwsKeys> {
  const { environment, region = "us-east-1", ca, loadProviders } = options;
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile = "", AWS_ROLE_ARN: role = "" } = environment;
  if (tokenFile === "" || role === "") return () => sdkKeys(loadProviders);
  const endpoint =
    environment["AWS_ENDPOINT_URL_STS"] ??
    `https://sts.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
  const session = environment["AWS_ROLE_SESSION_NAME"] ?? "graphform";
  return async () => {
    const { send, close } = openSender(ca === undefined ? {} : { ca });
    try {
      return await webIdentityKeys(send, { endpoint, tokenFile, role, session });
    } finally {
      await close();
    }
  };
}
