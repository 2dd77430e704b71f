/** @module Starts a controller: the database, the configuration, the queue, and by its role the API, a worker, or both. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer as createPlainServer } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { sql } from "kysely";
import { GraphformError } from "../index.ts";
import { defaultConfig, type LiveConfig, openConfig } from "./config/config.ts";
import { type Database, openDatabase } from "./database/connect.ts";
import { pendingMigrations } from "./database/migrations.ts";
import { assertAnswers, prepareDatabase } from "./database/prepare.ts";
import { type EmbeddedPostgres, startEmbedded } from "./embedded.ts";
import { createApp } from "./http/app.ts";
import { createToken, revokeToken } from "./http/tokens.ts";
import { type Queue, startQueue } from "./queue/queue.ts";
import { startWorker } from "./runs/worker.ts";

/** What a controller is started with. */
export interface ControllerOptions {
  /** The database: its address with the login, or the folder of an embedded one. */
  readonly database: { readonly url: string } | { readonly embedded: string };
  /** True if the tables are brought to this version first; those of an embedded database always are. */
  readonly isMigrating: boolean;
  readonly role: "all" | "api" | "worker";
  readonly listen: { readonly host: string; readonly port: number };
  /** Runs at a time in each queue of runs. */
  readonly slots: number;
  readonly configFile?: string;
  /** File for the token of an administrator, written if the database has no token yet. */
  readonly tokenFile: string;
  readonly version: string;
  /** Program of the threads that plan and apply. */
  readonly thread: URL;
  /** Gets lines for the operator. */
  readonly say: (line: string) => void;
}

/** A controller that runs. */
export interface Controller {
  /** Address of the API; undefined for a worker alone. */
  readonly url?: string;
  /** The file with the first token, if this start wrote it. */
  readonly tokenFile?: string;
  /** Reads the configuration again, and the certificate that it names. */
  reload(): Promise<void>;
  /** Resolves if it cannot go on: its embedded database has ended. */
  readonly ended: Promise<GraphformError>;
  /** Takes no new jobs, lets steps that run reach their boundary, and ends everything; harmless when repeated. */
  stop(): Promise<void>;
}

/** Ms for runs to reach a boundary: longer than the longest request to a service. */
const patience = 75_000;

/** Starts a controller; everything that it had started is ended if a part of it cannot start. Throws errors for people. */
export async function startController(options: ControllerOptions): Promise<Controller> {
  const { say, role, database: place } = options;
  const endings: (() => Promise<void>)[] = [];
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= (async () => {
      for (const end of endings.toReversed()) await end().catch(tellOf(say));
    })();
    return stopped;
  };
  try {
    // A mistake in it is told before anything starts.
    const config = await openConfig(options.configFile ?? defaultConfig);
    const onTrouble = countTrouble(say);
    endings.push(async () => onTrouble.end());
    let embedded: EmbeddedPostgres | undefined;
    if ("embedded" in place) {
      embedded = await startEmbedded(place.embedded, (line) => {
        if (!/ LOG: {2}/.test(line)) say(`postgres: ${line}`);
      });
      endings.push(embedded.stop);
    }
    const databaseUrl = embedded?.url ?? ("url" in place ? place.url : "");
    await assertAnswers(databaseUrl);
    if (embedded !== undefined || options.isMigrating) await prepareDatabase(databaseUrl);
    const database = openDatabase(databaseUrl, onTrouble);
    endings.push(() => database.destroy());
    await assertPrepared(database);
    const queue = await startQueue(databaseUrl, onTrouble);
    endings.push(() => queue.stop(0));
    const world: World = { options, config, database, queue, databaseUrl };
    const api = role === "worker" ? undefined : await startApi(world);
    if (api !== undefined) endings.push(api.close);
    const hasToken = role !== "worker" && (await writeFirstToken(database, options.tokenFile));
    if (role !== "api") {
      const { slots, version, thread } = options;
      const worker = await startWorker({
        database,
        databaseUrl,
        queue,
        config,
        slots,
        version,
        thread,
        onTrouble,
      });
      endings.push(() => worker.stop(patience));
    }
    return {
      ...(api === undefined ? {} : { url: api.url }),
      ...(hasToken ? { tokenFile: options.tokenFile } : {}),
      ended: embedded?.ended ?? new Promise(() => undefined),
      async reload() {
        const mistake = await config.reload();
        if (mistake === undefined) await api?.renew();
        say(
          mistake === undefined
            ? "the configuration was read again"
            : `${mistake.message}; the last one stays in force`,
        );
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface World {
  readonly options: ControllerOptions;
  readonly config: LiveConfig;
  readonly database: Database;
  readonly queue: Queue;
  readonly databaseUrl: string;
}

async function assertPrepared(database: Database): Promise<void> {
  const pending = await pendingMigrations(database);
  if (pending.length === 0) return;
  throw new GraphformError(
    "database-behind",
    `the database lacks ${pending.length} migrations of this version: ${pending.join(", ")}`,
    {
      hint: "run `graphform serve migrate` once, or start with --migrate",
    },
  );
}

interface Api {
  readonly url: string;
  /** Reads the certificate again. */
  renew(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the API. Throws `listen-*`: other machines are served by TLS, or through a proxy that the configuration trusts. */
async function startApi({ options, config, database, queue, databaseUrl }: World): Promise<Api> {
  const { version, listen } = options;
  const { host, port } = listen;
  const { tls, trustProxy } = config.current().http;
  if (tls === undefined && trustProxy.length === 0 && !/^(localhost|::1|127(\.\d+){3})$/.test(host))
    throw new GraphformError("listen-plain", `the API would listen on ${host} without TLS`, {
      hint: "name a certificate in http.tls of the configuration, or the proxy before it in http.trustProxy, or listen on 127.0.0.1",
    });
  const app = createApp({ database, queue, config, version, databaseUrl });
  const handle = getRequestListener(app.fetch);
  const server = tls === undefined ? createPlainServer(handle) : createServer(await certificate(tls), handle);
  await new Promise<void>((done, fail) => server.once("error", fail).listen(port, host, done)).catch(
    (error: unknown) => {
      const why = error instanceof Error && "code" in error ? String(error.code) : String(error);
      throw new GraphformError("listen-failed", `cannot listen on ${host}, port ${port}: ${why}`, {
        hint: "name another address with --listen",
      });
    },
  );
  const { address, family, port: chosen } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://${family === "IPv6" ? `[${address}]` : address}:${chosen}`,
    async renew() {
      const now = config.current().http.tls;
      if (now !== undefined && "setSecureContext" in server)
        (server as Server).setSecureContext(await certificate(now));
    },
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeIdleConnections();
      // Streams of events end only with their run.
      const timer = setTimeout(() => server.closeAllConnections(), 2_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function certificate(tls: {
  readonly certificate: string;
  readonly key: string;
}): Promise<{ readonly cert: string; readonly key: string }> {
  try {
    return { cert: await readFile(tls.certificate, "utf8"), key: await readFile(tls.key, "utf8") };
  } catch (cause) {
    throw new GraphformError("listen-certificate", "the certificate or the key of http.tls cannot be read", {
      cause,
    });
  }
}

/** Makes the first token if there never was one; true if its file was written. Of several that start at once, one does it. */
async function writeFirstToken(database: Database, file: string): Promise<boolean> {
  return database.transaction().execute(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('graphform first token'))`.execute(tx);
    const any = await tx.selectFrom("tokens").select("id").limit(1).executeTakeFirst();
    if (any !== undefined) return false;
    const actor = "controller";
    const { id, token } = await createToken(database, { name: "first", role: "admin", tenant: null, actor });
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(file, `${token}\n`, { mode: 0o600, flag: "wx" });
      return true;
    } catch (cause) {
      await revokeToken(database, { id, actor });
      throw new GraphformError("token-file", `the first token cannot be written into ${file}`, {
        hint: "name another file with --token-file, or make a token with `graphform serve token create --role admin`",
        cause,
      });
    }
  });
}

/** Tells trouble of the background: the first of it at once, more of the same once a minute with its number. */
function countTrouble(say: (line: string) => void): ((error: Error) => void) & { end(): void } {
  const counts = new Map<string, number>();
  const timer = setInterval(() => {
    for (const [message, count] of counts) {
      if (count > 0) say(`${count} times more in the last minute: ${message}`);
      if (count > 0) counts.set(message, 0);
      else counts.delete(message);
    }
  }, 60_000);
  timer.unref();
  const tell = tellOf(say);
  const onTrouble = (error: Error): void => {
    const count = counts.get(error.message);
    if (count === undefined) tell(error);
    counts.set(error.message, count === undefined ? 0 : count + 1);
  };
  return Object.assign(onTrouble, { end: () => clearInterval(timer) });
}

function tellOf(say: (line: string) => void): (error: unknown) => void {
  return (error) => say(`trouble: ${error instanceof Error ? error.message : String(error)}`);
}
