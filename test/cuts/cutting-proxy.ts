import http from "node:http";
import type { Socket } from "node:net";

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

/** Starts a proxy on a port of its own before `target`. */
export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  let count = 0;
  let armed: { readonly n: number; readonly moment: Moment; readonly kill: () => void } | undefined;
  const server = http.createServer((request, response) => {
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
    const { method, url, headers } = request;
    const forwarded = http.request({ hostname, port, method, path: url, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        if (cut?.moment === "after") return end(response.socket);
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        response.end(Buffer.concat(chunks), () => cut?.kill());
      });
    });
    forwarded.on("error", () => response.socket?.destroy());
    request.pipe(forwarded);
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
