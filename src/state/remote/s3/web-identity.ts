/** @module Exchanges a web identity token for the keys of a role, as pipelines and clusters give them. */
import { readFile } from "node:fs/promises";
import { fileTrouble } from "../../../files/file-trouble.ts";
import { checkedUrl } from "../wire/checked-url.ts";
import { denied, unreachable } from "../wire/refusals.ts";
import type { Send } from "../wire/send.ts";
import type { AwsKeys } from "./aws-keys.ts";
import { element, textOf } from "./xml.ts";

/** The role that is asked for, and the file of the token; pipelines write it anew from time to time. */
export interface WebIdentity {
  /** Address of the token service. */
  readonly endpoint: string;
  readonly tokenFile: string;
  readonly role: string;
  readonly session: string;
}

/** Asks the token service (AssumeRoleWithWebIdentity). The token goes in the body, and into no message. */
export async function webIdentityKeys(send: Send, identity: WebIdentity): Promise<AwsKeys> {
  const { endpoint, tokenFile, role, session } = identity;
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
  const [accessKeyId, secretAccessKey] = [textOf(keys, "AccessKeyId"), textOf(keys, "SecretAccessKey")];
  const [sessionToken, expiration] = [textOf(keys, "SessionToken"), textOf(keys, "Expiration")];
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw unreachable(where, "sent an answer without keys");
  const expires = Date.parse(expiration ?? "");
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
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
