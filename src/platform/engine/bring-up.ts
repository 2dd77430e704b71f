import { readFile } from "node:fs/promises";
import type { Login } from "./connection.ts";
import type { DatabaseSpec } from "./database.ts";
import { type DatabaseFolder, saveRecord } from "./database-record.ts";
import { EngineError } from "./engine-error.ts";
import { findRunning, type Running } from "./find-running.ts";
import { launch, operatorLogin } from "./launch.ts";
import type { LiveNode } from "./live-node.ts";
import { nodeConfig } from "./node-config.ts";
import { configuredPort, writeConfig } from "./node-files.ts";
import { claimPort } from "./ports.ts";
import { endAll } from "./processes.ts";
import { follow } from "./replication.ts";
import { plantData } from "./seed.ts";
import { endingOnPurpose, ServerProcess } from "./server-process.ts";
import type { ServerProgram } from "./server-program.ts";

/** What databases are made of: the server and the graph module. */
export interface Parts {
  readonly program: ServerProgram;
  readonly module: string;
}

/** How often a start is tried again because somebody took the port. */
const attempts = 10;

/**
 * Makes every node of a database run as the spec says, primary first: a process that already does is taken over, any other
 * is ended and started anew. Rejects as `Engine.start` does; what it started itself does not run then.
 */
export async function bringUp(
  parts: Parts,
  spec: DatabaseSpec,
  folder: DatabaseFolder,
  signal?: AbortSignal,
): Promise<readonly LiveNode[]> {
  const { nodes, dir, record } = folder;
  const running = await Promise.all(nodes.map((files) => findRunning(files, record.secret, spec)));
  const acting = running.findIndex((node) => node?.role === "primary");
  const primary = acting === -1 || running[record.primary]?.role === "primary" ? record.primary : acting;
  const order = [primary, ...nodes.keys()].filter((index, at) => at === 0 || index !== primary);
  const live: LiveNode[] = [];
  const loginTo = (port: number): Login => operatorLogin(port, record.secret, spec.tls);
  try {
    for (const index of order) {
      const node = await bringUpNode({ parts, spec, folder, signal }, index, running[index], live[0]?.port);
      live.push(node);
      const [first] = live;
      if (first !== undefined && first !== node)
        await follow(loginTo(node.port), loginTo(first.port), signal);
    }
    if (primary !== record.primary) await saveRecord(dir, { ...record, primary });
    return live;
  } catch (error) {
    const started = live.filter(({ index, server }) => running[index]?.pid !== server.pid);
    await Promise.all(
      started.map(({ server }) =>
        endingOnPurpose(server.files.config, () => endAll(server.files.config, 5000)),
      ),
    );
    throw error;
  }
}

interface Task {
  readonly parts: Parts;
  readonly spec: DatabaseSpec;
  readonly folder: DatabaseFolder;
  readonly signal: AbortSignal | undefined;
}

async function bringUpNode(
  task: Task,
  index: number,
  running: Running | undefined,
  primaryPort?: number,
): Promise<LiveNode> {
  const { parts, spec, folder, signal } = task;
  const { secret } = folder.record;
  const files = folder.nodes[index];
  if (files === undefined) throw new RangeError(`no node ${index}`);
  const role = primaryPort === undefined ? "primary" : "replica";
  const configFor = (port: number): string =>
    nodeConfig(spec, { files, port, primaryPort, module: parts.module, secret });
  if (running !== undefined) {
    const isAsWanted =
      running.knowsTenant && (await readFile(files.config, "utf8")) === configFor(running.port);
    if (isAsWanted)
      return { index, role, port: running.port, server: ServerProcess.adopt(running.pid, files) };
    await endingOnPurpose(files.config, running.end);
  }
  if (role === "primary") await plantData(spec, files);
  let wanted = spec.ports?.[index] ?? (await configuredPort(files));
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const claim = await claimPort(wanted);
    try {
      await writeConfig(files, configFor(claim.port));
      const login = operatorLogin(claim.port, secret, spec.tls);
      const server = await launch(parts.program, files, login, signal);
      if (server !== "port-taken") return { index, role, port: claim.port, server };
      wanted = undefined;
    } finally {
      claim.release();
    }
  }
  throw new EngineError("engine-start", `no port stayed free for ${files.id}; ${attempts} were tried`);
}
