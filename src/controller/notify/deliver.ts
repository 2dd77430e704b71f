/** @module Sends one webhook, signed as standardwebhooks.com says. */
import { createHmac } from "node:crypto";
import { GraphformError, readSecret, type SecretSource } from "../../index.ts";

/** A message. Its id names it to the receiver if it comes twice. */
export interface Message {
  readonly id: string;
  readonly type: string;
  readonly timestamp: Date;
  readonly data: object;
}

/** Ms for the answer of a receiver. */
const patience = 15_000;

/**
 * Sends a message to an address of the configuration, and to no other: redirections are not followed. Rejects with `webhook-refused` unless
 * the receiver answers 2xx; the message of the error has neither its answer nor its path, which may hold a token.
 */
export async function deliver(
  { name, url, secret }: { readonly name: string; readonly url: string; readonly secret: SecretSource },
  message: Message,
): Promise<void> {
  const body = JSON.stringify({ type: message.type, timestamp: message.timestamp, data: message.data });
  const seconds = Math.floor(message.timestamp.getTime() / 1000);
  const key = await readSecret(`webhooks.${name}.secret`, secret);
  const response = await fetch(url, {
    method: "POST",
    redirect: "manual",
    signal: AbortSignal.timeout(patience),
    headers: {
      "content-type": "application/json",
      "user-agent": "graphform",
      "webhook-id": message.id,
      "webhook-timestamp": String(seconds),
      "webhook-signature": `v1,${signature(key, `${message.id}.${seconds}.${body}`)}`,
    },
    body,
  }).catch((cause: unknown) => {
    throw refused(name, "does not answer", cause);
  });
  await response.body?.cancel();
  if (!response.ok) throw refused(name, `answered ${response.status}`);
}

/** HMAC with the key that `whsec_` begins, in base64 as the specification writes it. */
function signature(secret: string, text: string): string {
  return createHmac("sha256", Buffer.from(secret.replace(/^whsec_/, ""), "base64"))
    .update(text)
    .digest("base64");
}

function refused(name: string, what: string, cause?: unknown): GraphformError {
  return new GraphformError("webhook-refused", `the receiver ${name} of webhooks ${what}`, {
    hint: "look at webhooks in the configuration of the controller",
    cause,
  });
}
