import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "@redis/client";
import { ask, type DatabaseLogin } from "./local-platform.ts";

/** A client that writes consecutive numbers to the graph `shop`. */
export interface NumberWriter {
  /** Numbers that the database has acknowledged. */
  readonly acknowledged: readonly number[];
  /** Ends it. Resolves with the acknowledged numbers. */
  stop(): Promise<readonly number[]>;
}

/** Writes from `first` on, at the endpoint that `endpointOf` says at each connection. A write without an answer is not sent again. */
export function writeNumbers(
  first: number,
  login: DatabaseLogin,
  endpointOf: () => Promise<string>,
): NumberWriter {
  let isOver = false;
  const acknowledged: number[] = [];
  const work = async (): Promise<void> => {
    for (let number = first; !isOver; ) {
      const [host = "", port = ""] = (await endpointOf().catch(() => "")).split(":");
      const socket = { host, port: Number(port), reconnectStrategy: false as const, connectTimeout: 1000 };
      const client = createClient({ ...login, socket, commandOptions: { timeout: 2000 } });
      client.on("error", () => undefined);
      try {
        await client.connect();
        for (; !isOver; number += 1) {
          await client.sendCommand(["GRAPH.QUERY", "shop", `CREATE (:Order {number: ${number}})`]);
          acknowledged.push(number);
        }
      } catch {
        number += 1;
        await pause(50);
      } finally {
        client.destroy();
      }
    }
  };
  const ended = work();
  return {
    acknowledged,
    async stop() {
      isOver = true;
      await ended;
      return acknowledged;
    },
  };
}

/** The numbers that a database has. */
export async function numbersAt(endpoint: string, login: DatabaseLogin): Promise<ReadonlySet<number>> {
  const query = "MATCH (o:Order) RETURN collect(o.number)";
  const reply = await ask(endpoint, login, "GRAPH.RO_QUERY", "shop", query);
  const [found = "[]"] = /\[[\d, ]+\]/.exec(JSON.stringify(reply)) ?? [];
  return new Set(JSON.parse(found));
}
