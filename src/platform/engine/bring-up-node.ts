/** @module Starts one node of a database, or takes over its running process. */
import { mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { Login } from "./connection.ts";
import type { DatabaseFolder } from "./database-record.ts";
import type { LiveNode, Running } from "./live-node.ts";
import { configuredPort, type NodeRole, nodeConfig, withoutRole, writeConfig } from "./node-config.ts";
import { launch, operatorLogin, ServerProcess } from "./server-process.ts";
import type { ServerProgram } from "./setup/engine-cache.ts";
import { type DatabaseSpec, EngineError } from "./spec.ts";

export interface Parts {
  readonly program: ServerProgram;
  readonly module: string;
}

export interface BringUpTask {
  readonly parts: Parts;
  readonly spec: DatabaseSpec;
  readonly folder: DatabaseFolder;
  readonly signal: AbortSignal | undefined;
  /** Index of a failed node. It becomes primary only if it is the one that has all data. */
  readonly failed?: number | undefined;
  readonly notify: (what: string) => void;
}

/** Attempts to start on another port if a port was taken. */
const attempts = 10;

export function loginOf({ spec, folder }: BringUpTask, port: number): Login {
  return operatorLogin(port, folder.record.secret, spec.tls);
}

/** True if a running node is configured as the spec says, whichever primary it replicates. */
export async function isAsWanted(task: BringUpTask, index: number, running: Running): Promise<boolean> {
  const { config } = filesOf(task, index);
  if (!running.hasTenantPassword) return false;
  const there = await readFile(config, "utf8").catch(() => "");
  return withoutRole(there) === withoutRole(configOf(task, index, running.port, {}));
}

/** Takes over a node that runs as the spec says. Its process keeps its role; its configuration gets the given one. */
export async function adoptNode(
  task: BringUpTask,
  index: number,
  running: Running,
  role: NodeRole,
): Promise<LiveNode> {
  const files = filesOf(task, index);
  await writeConfig(files, configOf(task, index, running.port, role));
  const server = ServerProcess.adopt(running.server, files);
  return { index, role: nameOf(role), port: running.port, files, server };
}

/** Starts a node. It refuses writes until `permitWrites`. Rejects as `launch` does. */
export async function launchNode(task: BringUpTask, index: number, role: NodeRole): Promise<LiveNode> {
  const { parts, spec, signal } = task;
  const files = filesOf(task, index);
  await mkdir(files.data, { recursive: true, mode: 0o700 });
  let wanted = spec.ports?.[index] ?? (await configuredPort(files));
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const claim = await claimPort(wanted);
    try {
      await writeConfig(files, configOf(task, index, claim.port, role));
      const server = await launch(parts.program, files, loginOf(task, claim.port), signal);
      // The next start refuses a truncated file again.
      if (role.loadsTruncated === true)
        await writeConfig(files, configOf(task, index, claim.port, { ...role, loadsTruncated: false }));
      if (server !== "port-taken") return { index, role: nameOf(role), port: claim.port, files, server };
      wanted = undefined;
    } finally {
      claim.release();
    }
  }
  throw new EngineError("engine-start", `no port stayed free for ${files.id}; ${attempts} were tried`);
}

export function filesOf({ folder }: BringUpTask, index: number): DatabaseFolder["nodes"][number] {
  const files = folder.nodes[index];
  if (files === undefined) throw new RangeError(`no node ${index}`);
  return files;
}

function configOf(task: BringUpTask, index: number, port: number, role: NodeRole): string {
  const { parts, spec, folder } = task;
  return nodeConfig(spec, {
    ...role,
    files: filesOf(task, index),
    port,
    module: parts.module,
    secret: folder.record.secret,
  });
}

function nameOf({ primaryPort }: NodeRole): LiveNode["role"] {
  return primaryPort === undefined ? "primary" : "replica";
}

/** A port that this process gives to no other caller until `release`. */
interface PortClaim {
  readonly port: number;
  release(): void;
}

const claimed = new Set<number>();

/** Claims the wanted port if it is free, otherwise a port chosen by the system. Rejects if none is free. */
export async function claimPort(wanted = 0): Promise<PortClaim> {
  for (let asked = wanted, attempt = 0; attempt < 100; asked = 0, attempt += 1) {
    if (claimed.has(asked)) continue;
    if (asked !== 0) claimed.add(asked);
    const port = await freePort(asked);
    if (port !== undefined && (port === asked || !claimed.has(port))) {
      claimed.add(port);
      return { port, release: () => void claimed.delete(port) };
    }
    claimed.delete(asked);
  }
  throw new Error("no port is free on 127.0.0.1");
}

/** Listens briefly to test a port (0: any); undefined if it is taken. */
function freePort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : undefined));
    });
  });
}
