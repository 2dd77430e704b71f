import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One request as it came. */
export interface Seen {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** An answer; `cut` ends the connection instead, `hang` never answers. */
export type Reply =
  | {
      readonly status?: number;
      readonly headers?: { readonly [name: string]: string | readonly string[] };
      /** Text and bytes as they are, anything else as JSON. */
      readonly body?: unknown;
    }
  | "cut"
  | "hang";

export interface Listening {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** The requests to a path, by its end. */
  to(path: string): readonly Seen[];
}

/** A server on loopback for one test, gone when the test is over. */
export async function listen(
  reply: (seen: Seen, number: number) => Reply | Promise<Reply>,
  tls?: { readonly cert: string; readonly key: string },
): Promise<Listening> {
  const seen: Seen[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const { method = "", url = "", headers } = request;
      const one: Seen = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      const answer = await reply(one, seen.length);
      if (answer === "cut") request.socket.destroy();
      else if (answer !== "hang") {
        const { status = 200, body } = answer;
        for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
        response.writeHead(status);
        const isPlain = body === undefined || typeof body === "string" || body instanceof Uint8Array;
        response.end(isPlain ? body : JSON.stringify(body));
      }
    });
  };
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  const { port } = await started(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http${tls === undefined ? "" : "s"}://127.0.0.1:${port}`,
    seen,
    to: (path) => seen.filter(({ url }) => url.split("?")[0]?.endsWith(path)),
  };
}

async function started(server: Server): Promise<AddressInfo> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no address");
  return address;
}
