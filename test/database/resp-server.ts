import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { onTestFinished } from "vitest";

/** What to answer to a command, in RESP; undefined answers nothing at all. */
export type Answer = (command: readonly string[]) => string | undefined;

export interface RespServer {
  readonly port: number;
  /** Commands that came in, in their order. */
  readonly commands: readonly (readonly string[])[];
  /** Connections that are open now. */
  open(): number;
}

const tlsFile = (name: string): string => new URL(`tls/${name}.pem`, import.meta.url).pathname;

/** The authority of a server that is started with TLS. */
export const caFile: string = tlsFile("cert");

/** A server of the database's protocol that is gone after the test. */
export async function startRespServer(answer: Answer, tls = false): Promise<RespServer> {
  const commands: (readonly string[])[] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    let buffer = "";
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      buffer += chunk.toString();
      for (let found = take(buffer); found !== undefined; found = take(buffer)) {
        buffer = buffer.slice(found.length);
        commands.push(found.command);
        const reply = answer(found.command);
        if (reply !== undefined) socket.write(reply);
      }
    });
  };
  const pem = { cert: readFileSync(caFile), key: readFileSync(tlsFile("key")) };
  const server = tls ? createTlsServer(pem, serve) : createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: portOf(server.address()), commands, open: () => sockets.size };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}

function take(buffer: string): { readonly command: readonly string[]; readonly length: number } | undefined {
  const lines = buffer.split("\r\n");
  const count = Number(lines[0]?.slice(1));
  if (lines.length <= 2 * count + 1) return undefined;
  const used = lines.slice(0, 2 * count + 1);
  return {
    command: used.filter((_, index) => index > 0 && index % 2 === 0),
    length: used.join("\r\n").length + 2,
  };
}

export const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
