/** @module Speaks with the API of a controller: requests with the token, refusals as errors for people, and the events of a run. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { isObject, type JsonObject, objectIn, objectsIn, textIn } from "../../model/json.ts";
import { isLoopback } from "../../model/service.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/typeset.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";

export interface ControllerClient {
  /** Resolves with the document of the answer. Throws `controller-*`. */
  ask(method: Method, path: string, body?: object): Promise<JsonObject>;
  /** Asks for all pages of a list; `member` is the name of the list. */
  pages(path: string, member: string): Promise<JsonObject>;
  /** The events of a run from its first one, until it has ended or the caller goes; comes back when the connection ends before. */
  events(run: string): AsyncGenerator<JsonObject>;
}

/** Codes that Node gives to certificates which are not trusted, or for another name. */
const untrusted = /^(ERR_TLS_CERT|CERT_|DEPTH_ZERO_|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)/;

/** Longest wait for an answer, and pause before a stream is opened again, in ms. */
const [longestWait, beforeAgain] = [60_000, 2_000];

/** The client for GRAPHFORM_CONTROLLER_URL and GRAPHFORM_CONTROLLER_TOKEN; nothing is sent yet. */
export function controllerClient(settings: Settings): ControllerClient {
  const given = settings.get("GRAPHFORM_CONTROLLER_URL") ?? "http://127.0.0.1:8080";
  const token = settings.get("GRAPHFORM_CONTROLLER_TOKEN");
  const base = URL.parse(given);
  if (base === null || !/^https?:$/.test(base.protocol) || base.username !== "" || base.password !== "")
    throw refusal(
      "url",
      "GRAPHFORM_CONTROLLER_URL is no address of a controller, or has a login in it",
      "write https://HOST or http://127.0.0.1:PORT; the token alone signs in",
    );
  if (base.protocol === "http:" && !isLoopback(base.hostname))
    throw refusal(
      "plain",
      `the token would go to ${base.host} unencrypted`,
      "use https, or a tunnel to a port of this machine",
    );
  if (token === undefined)
    throw refusal(
      "token",
      "no token for the controller",
      "set GRAPHFORM_CONTROLLER_TOKEN; `graphform serve token create` makes one",
    );

  const send = async (
    method: Method,
    path: string,
    headers: { readonly [name: string]: string },
    body?: object,
  ): Promise<Response> => {
    const signal = headers["accept"] === "text/event-stream" ? undefined : AbortSignal.timeout(longestWait);
    // The controller may be below a path of its proxy.
    const response = await fetch(new URL(`${base.pathname.replace(/\/$/, "")}${path}`, base), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        // A request that is sent again by a proxy does nothing twice.
        ...(method === "GET" ? {} : { "idempotency-key": randomUUID() }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      redirect: "error",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }).catch((cause: unknown) => {
      const reason = reasonOf(cause);
      if (untrusted.test(reason))
        throw refusal(
          "untrusted",
          `the controller at ${base.host} shows a certificate that is not trusted: ${reason}`,
          "name the file of its authority in NODE_EXTRA_CA_CERTS, and the host that it was made for in the address",
        );
      throw refusal(
        "unreachable",
        `the controller at ${base.host} does not answer by ${base.protocol.slice(0, -1)}: ${reason}`,
        "check GRAPHFORM_CONTROLLER_URL, and that `graphform serve` runs",
      );
    });
    if (!response.ok) throw problemOf(response.status, objectIn(await response.text()), base.host);
    return response;
  };
  const ask = async (method: Method, path: string, body?: object): Promise<JsonObject> => {
    const document = objectIn(await (await send(method, path, { accept: "application/json" }, body)).text());
    if (document === undefined)
      throw refusal(
        "answer",
        `${base.host} answers with no document of a controller`,
        "check GRAPHFORM_CONTROLLER_URL",
      );
    return document;
  };
  return {
    ask,
    async pages(path, member) {
      const all: JsonObject[] = [];
      for (let after: string | undefined; ; ) {
        const join = path.includes("?") ? "&" : "?";
        const page = await ask(
          "GET",
          after === undefined ? path : `${path}${join}after=${encodeURIComponent(after)}`,
        );
        all.push(...objectsIn(page[member]));
        after = textIn(page["next"]);
        if (after === undefined) return { ...page, [member]: all };
      }
    },
    async *events(run) {
      let last = "0";
      for (let failures = 0; ; await pause(beforeAgain)) {
        const response = await send("GET", `/api/v1/runs/${run}/events`, {
          accept: "text/event-stream",
          "last-event-id": last,
        }).catch((error: unknown) => {
          // The controller may be starting again, or another one takes over.
          failures += 1;
          if (
            failures > 30 ||
            !(error instanceof GraphformError) ||
            !/unreachable|unavailable/.test(error.code)
          )
            throw error;
          return undefined;
        });
        if (response === undefined) continue;
        if (response.body === null) return;
        failures = 0;
        try {
          for await (const { id, type, data } of messagesOf(response.body)) {
            last = id;
            yield { ...data, type };
            if (type === "end") return;
          }
        } catch (error) {
          if (error instanceof GraphformError) throw error;
        }
      }
    },
  };
}

interface Message {
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
}

/** Reads server-sent events. */
async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  let text = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const field = (name: string): string =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
      const data = objectIn(field("data"));
      if (data !== undefined) yield { id: field("id"), type: field("event"), data };
    }
  }
}

/** The error for a refusal: `changed` means that what was looked at is stale. */
function problemOf(status: number, body: JsonObject | undefined, host: string): GraphformError {
  const code = textIn(body?.["code"]) ?? `status-${status}`;
  const message =
    textIn(body?.["detail"]) ?? textIn(body?.["title"]) ?? `${host} answers with the status ${status}`;
  const hints: { readonly [code: string]: string } = {
    "invalid-token": "set GRAPHFORM_CONTROLLER_TOKEN to one that `graphform serve token list` shows as valid",
    forbidden: "use a token of that role: `graphform serve token create --role ROLE`",
    "not-found": "`graphform fleet list` shows what this token may see",
    changed: "look at it again: `graphform fleet show RUN`",
  };
  const hint = hints[code];
  return new GraphformError(`controller-${code}`, escapeText(message), {
    exitCode: code === "changed" ? exitCodes.stale : exitCodes.error,
    ...(hint === undefined ? {} : { hint }),
  });
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = isObject(cause) ? textIn(cause["code"]) : undefined;
  return code ?? (cause instanceof Error ? cause.message : String(cause));
}

function refusal(code: string, message: string, hint: string): GraphformError {
  return new GraphformError(`controller-${code}`, message, { hint });
}
