/** @module Finds running nodes, checks that they answer, and ends them with their data saved. */
import { setTimeout as sleep } from "node:timers/promises";
import { hasEndedWithin, isRunning, type PinnedProcess } from "../../files/process-identity.ts";
import { type Ask, info, isErrorReply, type Login, ping, talk, untilServing } from "./connection.ts";
import { configuredPort, type NodeFiles } from "./node-config.ts";
import { replicationOf, takesWrites } from "./replication.ts";
import { expectingExit, logExcerpt, operatorLogin, type ServerProcess } from "./server-process.ts";
import { endServers, serversOf } from "./server-processes.ts";
import { type DatabaseNode, type DatabaseSpec, EngineError } from "./spec.ts";

export interface LiveNode {
  readonly index: number;
  readonly port: number;
  readonly role: DatabaseNode["role"];
  readonly files: NodeFiles;
  /** Its process, which may have just ended; absent for a replica that did not start. */
  readonly server?: ServerProcess;
}

export function shownNode({ port, role, server, files }: LiveNode): DatabaseNode {
  return { id: files.id, port, pid: server?.identity.pid ?? 0, role };
}

/** Time without an answer after which a node counts as silent, and is ended at a start, in ms. */
const silenceLimit = 5000;

/**
 * True if a node answers or is busy. Also repeats a failed snapshot: without an append-only file the server refuses writes until
 * one succeeds, and its own next attempt may be a day away.
 */
export async function isResponsive({ server }: LiveNode, login: Login): Promise<boolean> {
  if (server === undefined) return false;
  if (!(await untilServing(server.identity, login, silenceLimit))) return false;
  await talk(login, async (ask) => {
    const seen = await info(ask, "persistence");
    if (seen.get("rdb_last_bgsave_status") === "err" && seen.get("rdb_bgsave_in_progress") === "0")
      await ask("BGSAVE");
  }).catch(() => undefined);
  return true;
}

export interface Running {
  readonly server: PinnedProcess;
  readonly port: number;
  readonly role: DatabaseNode["role"];
  /** It is permitted to take writes: it was found to be primary, with its data, before. */
  readonly takesWrites: boolean;
  readonly hasTenantPassword: boolean;
  /** Saves its data and ends it. */
  end(): Promise<void>;
}

/** The server over a node's data, if it answers the operator. Ends all others, also a forked child that still writes. */
export async function findRunning(
  files: NodeFiles,
  secret: string,
  spec: DatabaseSpec,
  signal?: AbortSignal,
): Promise<Running | undefined> {
  const found = serversOf(files.folder);
  const servers = found.filter(({ isChild }) => !isChild);
  const [server] = servers;
  if (server === undefined || servers.length > 1) return ended(files);
  const login = operatorLogin((await configuredPort(files)) ?? 0, secret, spec.tls);
  try {
    if (!(await untilServing(server, login, silenceLimit, signal))) throw new Error("it does not answer");
    const [seen, isPermitted] = [await replicationOf(login), await takesWrites(login)];
    const tenant = { ...login, username: spec.user, password: spec.password };
    const hasTenantPassword = await ping(tenant).then(
      () => true,
      () => false,
    );
    const role = seen.get("role") === "master" ? "primary" : "replica";
    return {
      server,
      port: login.port,
      role,
      takesWrites: isPermitted,
      hasTenantPassword,
      end: () => ending(files.folder, () => shutDown(files, server, login)),
    };
  } catch {
    signal?.throwIfAborted();
    return ended(files);
  }
}

export function stillRunning(node: Running | undefined): Running | undefined {
  return node !== undefined && isRunning(node.server) ? node : undefined;
}

async function ended(files: NodeFiles): Promise<undefined> {
  await endNode(files.folder, 3000);
  return undefined;
}

/** Maximum time for a server to write its data, in ms. */
const savingTime = 300_000;

/** Rejects with EngineError, the server running, if its data cannot be saved. A silent one gets SIGTERM, which saves too. */
async function shutDown(files: NodeFiles, server: PinnedProcess, login: Login): Promise<void> {
  let isEnding = false;
  try {
    isEnding = await answers(server, login);
    if (isEnding) await talk(login, save, savingTime);
  } catch (error) {
    // A server that stops closes the connection instead of answering; an error reply is a refusal.
    if (isErrorReply(error)) {
      const message = `the data cannot be saved: ${await logExcerpt(files.log)} (log: ${files.log})`;
      throw new EngineError("engine-refused", message, error);
    }
  }
  if (isEnding && (await hasEndedWithin(server, 10_000))) return;
  await endServers(serversOf(files.folder), 3000);
}

/** True if the server answers, also while it is loading: it has nothing to save then. */
async function answers(server: PinnedProcess, login: Login): Promise<boolean> {
  return ping(login, 3000).then(
    () => true,
    (error: unknown) => isErrorReply(error) || untilServing(server, login, 3000),
  );
}

/** Sends SHUTDOWN SAVE, which ends the connection. A replica that was just copied refuses until its first append-only file is written, so it is asked again. */
async function save(ask: Ask): Promise<void> {
  for (let refusals = 0; ; ) {
    try {
      await ask("SHUTDOWN", "SAVE", "NOW");
    } catch (error) {
      if (!isErrorReply(error)) throw error;
      const seen = await info(ask, "persistence");
      const isWriting =
        seen.get("aof_rewrite_in_progress") === "1" || seen.get("aof_rewrite_scheduled") === "1";
      if (!isWriting) refusals += 1;
      if (refusals > 3) throw error;
      await sleep(20);
    }
  }
}

/** Ends every process over a node's data with SIGTERM, and with SIGKILL after `grace` ms. */
export async function endNode(nodeFolder: string, grace: number): Promise<void> {
  await ending(nodeFolder, () => endServers(serversOf(nodeFolder), grace));
}

function ending(nodeFolder: string, work: () => Promise<void>): Promise<void> {
  return expectingExit((folder) => folder === nodeFolder, work);
}

/** Ends a node with its data saved. Rejects as `shutDown` does. */
export async function stopNode({ server, files }: LiveNode, login: Login): Promise<void> {
  await ending(files.folder, async () => {
    if (server !== undefined) await shutDown(files, server.identity, login);
    await endServers(serversOf(files.folder), 3000);
  });
}
