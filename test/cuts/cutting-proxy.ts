import http from "node:http";
import type { Socket } from "node:net";
import type { Wording } from "./wording.ts";

/** Where in the life of a request its sender dies: before it works, after it has worked, or with the answer in hand. */
export type Moment = "before" | "after" | "answered";

/** Stands before a service, counts requests, and ends their sender at one of them. */
export interface CuttingProxy {
  readonly url: string;
  /** Requests since the last `arm` or `disarm`. */
  readonly count: number;
  /** Calls `kill` at the n-th request from now on (counted from 1). */
  arm(n: number, moment: Moment, kill: () => void): void;
  disarm(): void;
  close(): void;
}

const plain: Wording = {
  path: (path) => path,
  request: (text) => text,
  answer: (text) => text,
  headers: (headers) => headers,
};

/** Starts a proxy on a port of its own before `target`, which may have to be told in other words. */
export async function cuttingProxy(target: string, wording: Wording = plain): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  let count = 0;
  let armed: { readonly n: number; readonly moment: Moment; readonly kill: () => void } | undefined;
  const server = http.createServer(async (request, response) => {
    count += 1;
    const cut = armed?.n === count ? armed : undefined;
    const end = (socket: Socket | null): void => {
      cut?.kill();
      socket?.destroy();
    };
    if (cut?.moment === "before") {
      request.resume();
      end(response.socket);
      return;
    }
    const { method, url = "/" } = request;
    const sent = Buffer.from(wording.request(await textOf(request)));
    const headers = { ...request.headers, "content-length": String(sent.length) };
    const forwarded = http.request(
      { hostname, port, method, path: wording.path(url), headers },
      async (answer) => {
        const said = Buffer.from(wording.answer(await textOf(answer)));
        if (cut?.moment === "after") return end(response.socket);
        const { "transfer-encoding": _, ...others } = wording.headers(answer.headers);
        const isEmpty = said.length === 0;
        response.writeHead(
          answer.statusCode ?? 500,
          isEmpty ? others : { ...others, "content-length": said.length },
        );
        response.end(said, () => cut?.kill());
      },
    );
    forwarded.on("error", () => response.socket?.destroy());
    forwarded.end(sent);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    get count(): number {
      return count;
    },
    arm(n, moment, kill) {
      count = 0;
      armed = { n, moment, kill };
    },
    disarm() {
      count = 0;
      armed = undefined;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function textOf(stream: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise<void>((resolve) => {
    stream.on("close", resolve);
  });
  return Buffer.concat(chunks).toString();
}
