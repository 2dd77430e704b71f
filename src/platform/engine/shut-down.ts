/** @module Stops a server with its data saved. */
import { setTimeout as sleep } from "node:timers/promises";
import { hasEndedWithin, type PinnedProcess } from "../../files/process-identity.ts";
import { type Ask, info, isRefusal, type Login, ping, talk } from "./connection.ts";
import { EngineError } from "./engine-error.ts";
import type { LiveNode } from "./live-node.ts";
import type { NodeFiles } from "./node-files.ts";
import { logExcerpt } from "./server-log.ts";
import { expectingExit } from "./server-process.ts";
import { endServers, serversOf } from "./server-processes.ts";
import { untilServing } from "./until-serving.ts";

/** Maximum time for a server to write its data, in ms. */
const savingTime = 300_000;

/**
 * Rejects with EngineError where the server cannot save its data; it keeps running then. A server that does not answer is ended with
 * SIGTERM, which saves as well, and at last with SIGKILL.
 */
export async function shutDown(files: NodeFiles, server: PinnedProcess, login: Login): Promise<void> {
  let isEnding = false;
  try {
    isEnding = await answers(server, login);
    if (isEnding) await talk(login, save, savingTime);
  } catch (error) {
    // A server that stops closes the connection instead of answering; an error reply is a refusal.
    if (isRefusal(error)) {
      const words = await logExcerpt(files.log);
      throw new EngineError(
        "engine-refused",
        `the data cannot be saved: ${words} (log: ${files.log})`,
        error,
      );
    }
  }
  if (isEnding && (await hasEndedWithin(server, 10_000))) return;
  await endServers(serversOf(files.folder), 3000);
}

/** True where the server answers, also while it is loading: it has nothing to save then. */
async function answers(server: PinnedProcess, login: Login): Promise<boolean> {
  return ping(login, 3000).then(
    () => true,
    (error: unknown) => isRefusal(error) || untilServing(server, login, 3000),
  );
}

/**
 * Sends SHUTDOWN SAVE, which ends the connection. A replica that was just copied refuses until its first append-only file is
 * written: it is asked again, and a few times more, since the writing may just have ended.
 */
async function save(ask: Ask): Promise<void> {
  for (let refusals = 0; ; ) {
    try {
      await ask("SHUTDOWN", "SAVE", "NOW");
    } catch (error) {
      if (!isRefusal(error)) throw error;
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
  await expectingExit(
    (folder) => folder === nodeFolder,
    () => endServers(serversOf(nodeFolder), grace),
  );
}

/** Ends a node with its data saved. Rejects as `shutDown` does. */
export async function stopNode({ server, files }: LiveNode, login: Login): Promise<void> {
  await expectingExit(
    (folder) => folder === files.folder,
    async () => {
      if (server !== undefined) await shutDown(files, server.identity, login);
      await endServers(serversOf(files.folder), 3000);
    },
  );
}
