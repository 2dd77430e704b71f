import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import type { Database } from "../../../src/platform/engine/database.ts";
import { findEngine } from "../../../src/platform/engine/setup/setup-engine.ts";
import type { DatabaseSpec } from "../../../src/platform/engine/spec.ts";

/** What it is told: to start a database, or to let it fail over and to die by `kill -9` just before the n-th moment of that. */
export type Order = { readonly start: DatabaseSpec } | { readonly failoverUntil: number };

/**
 * A platform in small: does what it is told, tells the nodes of its database, and waits to be killed. The moments of a failover are its commands
 * that change roles or permissions, and its records that reach the disk.
 */
let database: Database | undefined;
let left = Number.POSITIVE_INFINITY;

function moment(): void {
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

const write = net.Socket.prototype.write;
Reflect.set(net.Socket.prototype, "write", function (this: net.Socket, ...args: Parameters<typeof write>) {
  if (/REPLICAOF|\r\nSET\r\n/.test(String(args[0]))) moment();
  return write.apply(this, args);
});
const rename = fs.promises.rename;
fs.promises.rename = async (from, to) => {
  if (/database\.json$/.test(String(to))) moment();
  await rename(from, to);
};
syncBuiltinESMExports();

process.on("message", async (order: Order) => {
  if ("failoverUntil" in order) {
    left = order.failoverUntil;
    await database?.failover().catch(() => undefined);
    left = Number.POSITIVE_INFINITY;
  } else {
    const { engine } = await findEngine();
    database = await engine?.start(order.start);
  }
  process.send?.(database?.nodes() ?? []);
});
