import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "@redis/client";
import { secret } from "./fixture.ts";

/** Clients that write all the time, wherever a write is taken, until they are stopped. */
export interface Writers {
  /** Numbers of the writes that were acknowledged so far. */
  readonly acknowledged: ReadonlySet<number>;
  /** Writes from now on where the database listens now: a port that was free for a moment may be another program's. */
  follow(ports: readonly number[]): void;
  /** Resolves when the last of them has been answered or given up. */
  stop(): Promise<void>;
}

/** A client that never connects: a new one builds a class of all commands, which takes the processor from the databases. */
const template = createClient({ RESP: 2, username: "tenant", password: secret });

/** Starts one writer for each port; each writes `(:W {i})` with numbers that nobody else uses. */
export function startWriters(ports: readonly number[]): Writers {
  const acknowledged = new Set<number>();
  let next = 0;
  let isOver = false;
  let current = ports;
  const write = async (_: number, index: number): Promise<void> => {
    while (!isOver) {
      const port = current[index] ?? 0;
      // Nobody can sign in where nobody listens.
      if (!(await isListening(port))) {
        await pause(20);
        continue;
      }
      const client = template.duplicate({ socket: { host: "127.0.0.1", port, reconnectStrategy: false } });
      client.on("error", () => undefined);
      try {
        await client.connect();
        while (!isOver && client.isReady && port === current[index]) {
          next += 1;
          const number = next;
          const reply = client.sendCommand(["GRAPH.QUERY", "w", `CREATE (:W {i: ${number}})`]);
          const isTaken = await reply.then(
            () => acknowledged.add(number).size > 0,
            () => false,
          );
          // The databases need the processor as well, and one that refuses a write does so for a while.
          await pause(isTaken ? 1 : 10);
        }
      } catch {
        await pause(20);
      } finally {
        client.destroy();
      }
    }
  };
  const all = ports.map(write);
  return {
    acknowledged,
    follow(now) {
      current = now;
    },
    async stop() {
      isOver = true;
      await Promise.all(all);
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
