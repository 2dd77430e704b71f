import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { portOf, stopper } from "./listening.ts";

/** A request as it arrived. */
export interface SeenCall {
  readonly method: string;
  /** The path with its query. */
  readonly target: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  /** The status of its answer; 0 before, and where none went out. */
  status: number;
}

export interface Reply {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Buffer;
}

/**
 * A fault in place of the answer. `cut-before`: the connection ends and nothing is done. `cut-after`: it is done, and the
 * connection ends. `hang`: nothing is done and nothing is said. A reply: nothing is done and this is said; `after` does it
 * first; `until` waits before anything.
 */
export type Fault =
  | "cut-before"
  | "cut-after"
  | "hang"
  | (Reply & { readonly after?: boolean })
  | { readonly until: Promise<void> };

/** A server on loopback whose answers can be spoiled. */
export interface FaultyServer {
  readonly origin: string;
  readonly calls: SeenCall[];
  /** Asked for each request; undefined lets it be answered. */
  misbehave: (call: SeenCall) => Fault | undefined;
  close(): Promise<void>;
}

/** Starts a server that notes each request, and answers it with `work` unless a fault is asked for. */
export async function startFaultyServer(
  work: (call: SeenCall) => Reply | Promise<Reply>,
): Promise<FaultyServer> {
  const calls: SeenCall[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = await seen(request);
    calls.push(call);
    const fault = server.misbehave(call);
    if (fault === "hang") return;
    if (typeof fault === "object" && "until" in fault) await fault.until;
    const isDone =
      fault === undefined ||
      fault === "cut-after" ||
      (typeof fault === "object" && ("until" in fault || fault.after === true));
    const done = isDone ? await work(call) : undefined;
    if (fault === "cut-before" || fault === "cut-after") {
      request.socket.destroy();
      return;
    }
    const {
      status,
      headers = {},
      body = "",
    } = fault === undefined || "until" in fault ? (done ?? { status: 500 }) : fault;
    call.status = status;
    response.writeHead(status, { ...headers }).end(body);
  };
  const http = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  const close = await stopper(http);
  const server: FaultyServer = {
    origin: `http://127.0.0.1:${portOf(http)}`,
    calls,
    misbehave: () => undefined,
    close,
  };
  return server;
}

async function seen(request: IncomingMessage): Promise<SeenCall> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const target = request.url ?? "";
  return {
    method: request.method ?? "",
    target,
    url: new URL(target, "http://127.0.0.1"),
    headers: request.headers,
    body: Buffer.concat(chunks),
    status: 0,
  };
}
