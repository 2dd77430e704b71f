/** @module Starts a controller: the database, the configuration, the queue, and by its role the API, a worker, or both. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import { dirname } from "node:path";
import { createSecureContext } from "node:tls";
import { getRequestListener } from "@hono/node-server";
import { sql } from "kysely";
import { GraphformError } from "../index.ts";
import type { ControllerConfig, LiveConfig } from "./config/config.ts";
import { isThisMachine, openConfig } from "./config/read-config.ts";
import { assertAnswers, type Database, isAway, openDatabase } from "./database/connect.ts";
import { pendingMigrations, prepareDatabase } from "./database/migrations.ts";
import { startEmbedded } from "./embedded.ts";
import { createApp } from "./http/app.ts";
import { addToken } from "./http/tokens.ts";
import { startQueue } from "./queue/queue.ts";
import { noticeRestore, restoredWords, watchForRestore } from "./runs/restored.ts";
import { startWorker } from "./runs/worker.ts";

export interface ControllerOptions {
  /** The database: its address with the login, or the folder of an embedded one. */
  readonly database: { readonly url: string } | { readonly embedded: string };
  /** True if the tables are brought to this version first; those of an embedded database always are. */
  readonly isMigrating: boolean;
  readonly role: "all" | "api" | "worker";
  readonly listen: { readonly host: string; readonly port: number };
  readonly slots: number;
  readonly configFile: string | undefined;
  /** File for the token of an administrator, written if the database never had a token. */
  readonly tokenFile: string;
  readonly version: string;
  readonly thread: URL;
  readonly say: (line: string) => void;
}

export interface Controller {
  readonly url: string | null;
  /** The file with the first token; null if this start did not write it. */
  readonly tokenFile: string | null;
  /** Reads the configuration again, and the certificate that it names; a mistake leaves the last one in force. */
  reload(): Promise<void>;
  readonly ended: Promise<GraphformError>;
  /** Takes no new jobs, lets steps that run reach their boundary, and ends everything; harmless when repeated. */
  stop(): Promise<void>;
}

/** Ms for runs to reach a boundary: longer than the longest request to a service. */
const patience = 75_000;

/** Starts a controller. If a part cannot start, those that have started are ended. Throws errors for people. */
export async function startController(options: ControllerOptions): Promise<Controller> {
  const { say, role, database: place, version } = options;
  const onTrouble = countTrouble(say);
  const endings: (() => Promise<void>)[] = [];
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    for (const end of endings.toReversed()) await end().catch(onTrouble);
  };
  try {
    // A mistake in it is reported before any part starts.
    const config = await openConfig(options.configFile);
    // The start asks PostgreSQL again and again until it answers, and PostgreSQL logs each refusal.
    const onLog = (line: string): void =>
      / LOG: |the database system is starting up/.test(line) ? undefined : say(line);
    const embedded = "embedded" in place ? await startEmbedded(place.embedded, onLog) : undefined;
    if (embedded !== undefined) endings.push(embedded.stop);
    const { url: databaseUrl } = embedded ?? { url: "", ...place };
    await assertAnswers(databaseUrl);
    if (embedded !== undefined || options.isMigrating) await prepareDatabase(databaseUrl);
    const database = openDatabase(databaseUrl, onTrouble);
    endings.push(() => database.destroy());
    await assertPrepared(database);
    const folder = "embedded" in place ? { folder: place.embedded } : {};
    const restored = await noticeRestore(database, { isStart: true, ...folder });
    if (restored !== undefined) say(`${restoredWords(restored)}: every change waits for a person`);
    const endWatch = watchForRestore(database, onTrouble);
    endings.push(async () => endWatch());
    const queue = await startQueue(databaseUrl, onTrouble);
    let worker: Awaited<ReturnType<typeof startWorker>> | undefined;
    endings.push(async () => (worker === undefined ? queue.stop(0) : worker.stop(patience)));
    const app = createApp({ database, queue, config, version, onTrouble });
    const api = role === "worker" ? undefined : await listen(app.fetch, options.listen, config);
    if (api !== undefined) endings.push(api.close);
    const hasToken = api !== undefined && (await writeFirstToken(database, options.tokenFile));
    if (role !== "api") {
      const { slots, thread } = options;
      worker = await startWorker({ database, databaseUrl, queue, config, slots, version, thread, onTrouble });
    }
    return {
      url: api?.url ?? null,
      tokenFile: hasToken ? options.tokenFile : null,
      ended: embedded?.ended ?? new Promise(() => undefined),
      async reload() {
        const mistake = await config.reload(api?.renew);
        say(
          mistake
            ? `${mistake.message}\nthe last configuration stays in force`
            : "the configuration was read again",
        );
      },
      stop() {
        stopped ??= stop();
        return stopped;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assertPrepared(database: Database): Promise<void> {
  const pending = await pendingMigrations(database);
  if (pending.length === 0) return;
  const message = `the database lacks migrations of this version: ${pending.join(", ")}`;
  const hint = "run `graphform serve migrate` once, or start with --migrate";
  throw new GraphformError("database-behind", message, { hint });
}

/**
 * Makes the first token if there never was one; true if its file was written. Of several that start at once, one does it. The token counts
 * only when it stands in the file: what goes wrong in between leaves no token, and a file at most.
 */
async function writeFirstToken(database: Database, file: string): Promise<boolean> {
  return database.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('graphform first token'))`.execute(tx);
    if ((await tx.selectFrom("tokens").select("id").limit(1).executeTakeFirst()) !== undefined) return false;
    const first = { name: "first", role: "admin", tenant: null, actor: "controller" } as const;
    const { token } = await addToken(tx, first);
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(file, `${token}\n`, { mode: 0o600, flag: "wx" });
      return true;
    } catch (cause) {
      const hint = "remove that file if an earlier start has left it, or name another with --token-file";
      const message = `the first token cannot be written into ${file}`;
      throw new GraphformError("token-file", message, { hint, cause });
    }
  });
}

/** Logs errors of the background: the first of a kind at once, further ones once a minute with their number. All of a database that is away are one kind. */
export function countTrouble(say: (line: string) => void): (error: unknown) => void {
  const counts = new Map<string, number>();
  const tell = (): void => {
    for (const [message, count] of counts) {
      if (count > 0) say(`trouble, ${count} times more in the last minute: ${message}`);
      if (count > 0) counts.set(message, 0);
      else counts.delete(message);
    }
  };
  setInterval(tell, 60_000).unref();
  return (error) => {
    const message = error instanceof Error ? error.message : String(error);
    const kind = isAway(error) ? "the database does not answer" : message;
    const count = counts.get(kind);
    if (count === undefined) say(`trouble: ${kind === message ? message : `${kind}: ${message}`}`);
    counts.set(kind, count === undefined ? 0 : count + 1);
  };
}

interface Listening {
  readonly url: string;
  /** Takes the certificate that a configuration names. */
  renew(config: ControllerConfig): Promise<void>;
  /** Takes no more requests; streams that are open get 2 s. */
  close(): Promise<void>;
}

/** Listens. Throws `listen-*`: other machines are served by TLS, or through a proxy that the configuration trusts. */
async function listen(
  fetch: Parameters<typeof getRequestListener>[0],
  { host, port }: { readonly host: string; readonly port: number },
  config: LiveConfig,
): Promise<Listening> {
  const { tls, trustProxy } = config.current().http;
  const isOpen = tls === undefined && trustProxy.length === 0;
  const hint = "name http.tls or http.trustProxy in the configuration, or listen on 127.0.0.1";
  if (isOpen && !isThisMachine(host))
    throw new GraphformError("listen-plain", `the API would listen on ${host} without TLS`, { hint });
  const handle = getRequestListener(fetch);
  const secure = tls === undefined ? undefined : createServer(await certificateOf(config.current()), handle);
  const server = secure ?? createPlainServer(handle);
  const listening = new Promise<void>((done, fail) => server.once("error", fail).listen(port, host, done));
  await listening.catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new GraphformError("listen-failed", `cannot listen: ${why}`, { hint: "name another --listen" });
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("a server on a port has an address");
  const { address, family, port: chosen } = bound;
  return {
    url: `${secure === undefined ? "http" : "https"}://${family === "IPv6" ? `[${address}]` : address}:${chosen}`,
    renew: async (next) => {
      if (secure !== undefined) secure.setSecureContext(await certificateOf(next));
    },
    async close() {
      const closed = new Promise((done) => server.close(done));
      const timer = setTimeout(() => server.closeAllConnections(), 2_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function certificateOf({
  http,
}: ControllerConfig): Promise<{ readonly cert: string; readonly key: string }> {
  const { certificate = "", key = "" } = http.tls ?? {};
  try {
    const pair = { cert: await readFile(certificate, "utf8"), key: await readFile(key, "utf8") };
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    const message = `the certificate or the key of http.tls cannot be read, or they do not fit: ${certificate}, ${key}`;
    throw new GraphformError("listen-certificate", message, {
      hint: "both are files in PEM, and the key is that of the first certificate",
      cause,
    });
  }
}
