import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "@redis/client";
import { secret } from "./fixture.ts";

/** Clients that write all the time, wherever a write is taken, until they are stopped. */
export interface Writers {
  /** Numbers of the writes that were acknowledged so far. */
  readonly acknowledged: ReadonlySet<number>;
  /** Resolves when the last of them has been answered or given up. */
  stop(): Promise<void>;
}

/** Starts one writer for each port; each writes `(:W {i})` with numbers that nobody else uses. */
export function startWriters(ports: readonly number[]): Writers {
  const acknowledged = new Set<number>();
  let next = 0;
  let isOver = false;
  const write = async (port: number): Promise<void> => {
    while (!isOver) {
      const client = createClient({
        RESP: 2,
        username: "tenant",
        password: secret,
        socket: { host: "127.0.0.1", port, reconnectStrategy: false },
      });
      client.on("error", () => undefined);
      try {
        await client.connect();
        while (!isOver && client.isReady) {
          next += 1;
          const number = next;
          const reply = client.sendCommand(["GRAPH.QUERY", "w", `CREATE (:W {i: ${number}})`]);
          await reply.then(
            () => acknowledged.add(number),
            () => undefined,
          );
          // The databases need some of the processor as well.
          await pause(1);
        }
      } catch {
        await pause(5);
      } finally {
        client.destroy();
      }
    }
  };
  const all = ports.map(write);
  return {
    acknowledged,
    async stop() {
      isOver = true;
      await Promise.all(all);
    },
  };
}
