import { connect, createServer, type Socket } from "node:net";
import { portOf } from "./listening.ts";

/** What a proxy does with the next request: nothing odd, no way there, no way back, or silence. */
export type Fault = "none" | "lose-request" | "lose-answer" | "keep-silent";

/** A proxy on loopback between a client and a server of any protocol. */
export interface TcpProxy {
  readonly port: number;
  /** Bytes that clients sent, as text; of many, the last million. */
  sent(): string;
  /** Number of all bytes that clients sent. */
  bytes(): number;
  /** Number of the pieces that they came in. */
  chunks(): number;
  /**
   * Does this to the next bytes that a client sends, once: `lose-request` closes before they are passed on, `lose-answer` passes
   * them on and closes when the server has answered, `keep-silent` passes nothing on any more.
   */
  next(fault: Fault): void;
  close(): Promise<void>;
}

/** Starts a proxy before a port of this machine. */
export async function openTcpProxy(target: number): Promise<TcpProxy> {
  let fault: Fault = "none";
  let sent = "";
  let [bytes, chunks] = [0, 0];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    let mode: Fault = "none";
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
    client.on("data", (data) => {
      bytes += data.length;
      chunks += 1;
      sent = `${sent}${data.toString("latin1")}`.slice(-1_000_000);
      if (fault !== "none") {
        mode = fault;
        fault = "none";
      }
      if (mode === "lose-request") client.destroy();
      else if (mode !== "keep-silent") upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (mode === "lose-answer") client.destroy();
      else if (mode !== "keep-silent") client.write(data);
    });
    client.on("close", () => {
      sockets.delete(client);
      upstream.destroy();
    });
    upstream.on("close", () => {
      sockets.delete(upstream);
      client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: portOf(server),
    sent: () => sent,
    bytes: () => bytes,
    chunks: () => chunks,
    next(wanted) {
      fault = wanted;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
