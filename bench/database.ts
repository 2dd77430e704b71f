import { once } from "node:events";
import { createServer } from "node:net";

const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;
const pair = (name: string, value: number): string => `*2\r\n${bulk(name)}:${value}\r\n`;
const answers: { readonly [command: string]: string } = {
  AUTH: "+OK\r\n",
  PING: "+PONG\r\n",
  "GRAPH.CONFIG": `*2\r\n${pair("CACHE_SIZE", 25)}${pair("TIMEOUT_MAX", 30_000)}`,
  INFO: bulk("# Persistence\r\naof_enabled:1\r\n# Replication\r\nrole:master\r\nconnected_slaves:1\r\n"),
  MODULE: "*0\r\n",
};

/** A database that answers a probe at once, or after so many ms; the port that it listens on. */
export async function startDatabase(latency: number): Promise<number> {
  const server = createServer((socket) => {
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const commands = text.match(/(?<=^\*\d+\r\n\$\d+\r\n)[\w.]+/gm) ?? [];
      text = "";
      const reply = commands.map((command) => answers[command] ?? "+OK\r\n").join("");
      if (latency === 0) socket.write(reply);
      else setTimeout(() => socket.write(reply), latency);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}
