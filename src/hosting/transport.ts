import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import process from "node:process";
import type { SecureContext } from "node:tls";
import { ServiceError } from "../model/errors.ts";
import type { Transport, WireRequest, WireResponse } from "./wire.ts";

export interface TransportOptions {
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string;
  /** How long a connection may be silent before its request is given up, in ms. */
  readonly patience?: number;
  /** The largest answer that is read, in bytes. */
  readonly largest?: number;
}

/** A transport with connections of its own to let go of. */
export interface Connections {
  readonly send: Transport;
  close(): void;
}

/** Free connections are dropped before servers usually do, so that no request is sent into one that is closing. */
const idle = 4000;

/**
 * The real transport: Node's own HTTP client with connections kept alive. Redirects are not followed, a proxy is used
 * only where Node was told to.
 *
 * Not `import "node:http"`: an import of it loads Node's WebSocket and fetch as well, 25 ms of every command.
 */
export function openConnections(options: TransportOptions = {}): Connections {
  const { ca, patience = 30_000, largest = 16 * 1024 * 1024 } = options;
  const servers = new Map<string, Server>();
  const serverOf = (origin: string): Server => {
    const known = servers.get(origin);
    if (known !== undefined) return known;
    const server = newServer(origin, ca);
    servers.set(origin, server);
    return server;
  };
  return {
    send: (request, signal) =>
      new Promise((resolve, reject) =>
        exchange(request, serverOf(request.origin), { signal, patience, largest }, resolve, reject),
      ),
    close() {
      for (const { agent } of servers.values()) agent.destroy();
    },
  };
}

/** One host, and the connections to it. */
interface Server {
  readonly agent: Agent;
  readonly secure: boolean;
  readonly address: Pick<RequestOptions, "hostname" | "port">;
}

function newServer(origin: string, ca: string | undefined): Server {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === "https:";
  const settings = { keepAlive: true, timeout: idle, scheduling: "lifo" } as const;
  const agent = secure
    ? new (process.getBuiltinModule("node:https").Agent)({
        ...settings,
        ...(ca === undefined ? {} : trusting(ca)),
      })
    : new (process.getBuiltinModule("node:http").Agent)(settings);
  return {
    agent,
    secure,
    address: { hostname: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? null : port },
  };
}

interface Terms {
  readonly signal: AbortSignal;
  readonly patience: number;
  readonly largest: number;
}

function exchange(
  request: WireRequest,
  server: Server,
  terms: Terms,
  resolve: (response: WireResponse) => void,
  reject: (error: ServiceError) => void,
): void {
  if (terms.signal.aborted) {
    reject(aborted(request, false));
    return;
  }
  const { path, method, headers, body } = request;
  const { agent, secure, address } = server;
  const { request: open } = process.getBuiltinModule(secure ? "node:https" : "node:http");
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const settings: RequestOptions = {
    ...address,
    method,
    path,
    agent,
    timeout: terms.patience,
    headers: { ...headers, ...length },
  };
  const outgoing = open(settings);
  const isSent = sending(outgoing, secure);
  const give = (): void => void outgoing.destroy(new Error("aborted"));
  const fail = (cause: Error): void => {
    terms.signal.removeEventListener("abort", give);
    reject(terms.signal.aborted ? aborted(request, isSent()) : failure(request, cause, isSent()));
  };
  terms.signal.addEventListener("abort", give, { once: true });
  outgoing.on("timeout", () => outgoing.destroy(new Error(`silent for ${terms.patience / 1000} s`)));
  outgoing.on("error", fail);
  outgoing.on("response", (incoming) =>
    collect(incoming, terms.largest, fail, (text) => {
      terms.signal.removeEventListener("abort", give);
      if (text === undefined) reject(tooLarge(request, terms.largest));
      else resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: text });
    }),
  );
  outgoing.end(body);
}

/** Whether anything may have reached the other side: not before the connection stands, and its TLS. */
function sending(outgoing: ClientRequest, secure: boolean): () => boolean {
  let sent = false;
  outgoing.once("socket", (socket) => {
    if (outgoing.reusedSocket || !(socket.connecting || secure)) sent = true;
    else {
      socket.once(secure ? "secureConnect" : "connect", () => {
        sent = true;
      });
    }
  });
  return () => sent;
}

/** Reads a body to its end; undefined where it is larger than is read. */
function collect(
  incoming: IncomingMessage,
  largest: number,
  fail: (cause: Error) => void,
  done: (text: string | undefined) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  incoming.on("data", (chunk: Buffer) => {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= largest) return;
    incoming.removeAllListeners("error").on("error", () => undefined);
    incoming.destroy();
    done(undefined);
  });
  incoming.on("error", fail);
  incoming.on("end", () => done(Buffer.concat(chunks).toString("utf8")));
}

function aborted({ operation, isWrite }: WireRequest, sent: boolean): ServiceError {
  return new ServiceError("aborted", operation, `${operation}: interrupted`, {
    mayHaveWorked: isWrite && sent,
  });
}

function tooLarge({ operation, isWrite }: WireRequest, largest: number): ServiceError {
  const message = `${operation}: the answer is larger than ${Math.round(largest / 1024 / 1024)} MB`;
  return new ServiceError("shape", operation, message, { mayHaveWorked: isWrite });
}

function failure({ operation, origin, isWrite }: WireRequest, cause: Error, sent: boolean): ServiceError {
  const code = codeOf(cause);
  if (sent) {
    const options = { mayHaveWorked: isWrite, cause };
    return new ServiceError(
      "lost",
      operation,
      `${operation}: the connection to ${origin} was lost (${code})`,
      options,
    );
  }
  const hint = /CERT|SIGNED|ISSUER|TLS|SSL|ALTNAME/.test(code)
    ? "set GRAPHFORM_CA_FILE where the service has a certificate authority of its own"
    : "check the address, and whether the service runs";
  return new ServiceError("unavailable", operation, `${operation}: ${origin} cannot be reached (${code})`, {
    cause,
    hint,
  });
}

function codeOf(cause: Error): string {
  if ("code" in cause && typeof cause.code === "string") return cause.code;
  return cause.message === "" ? "no reason given" : cause.message;
}

/** Trust in an authority besides the system's, for all connections at once: Node's own `ca` would replace them. */
function trusting(ca: string): { readonly secureContext: SecureContext } {
  const { createSecureContext, getCACertificates } = process.getBuiltinModule("node:tls");
  return { secureContext: createSecureContext({ ca: [...getCACertificates("default"), ca] }) };
}
