import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { ControllerConfig, LiveConfig } from "../../../src/controller/config/config.ts";
import { type Database, openDatabase } from "../../../src/controller/database/connect.ts";
import { migrate } from "../../../src/controller/database/migrations.ts";
import type { RunRow } from "../../../src/controller/database/schema.ts";
import { installQueue, type Queue, startQueue } from "../../../src/controller/queue/queue.ts";
import { addManifest, type DecisionContext } from "../../../src/controller/runs/decide.ts";
import { isEnd, type RunStatus } from "../../../src/controller/runs/transitions.ts";
import { creation } from "../../../src/state/remote/postgres/postgres-driver.ts";
import { tablesIn } from "../../../src/state/remote/postgres/state-rows.ts";
import { type LocalPlatform, platformUp } from "../../support/local-platform.ts";
import { openPostgres, type Postgres } from "../../support/postgres.ts";
import { quickProfileFile } from "../../support/quick-profile.ts";
import { openWorkspace, type Workspace } from "../../support/workspace.ts";

/** A controller of a test without its API: a real PostgreSQL, the local platform without engines, and workers as processes. */
export interface Fleet extends DecisionContext {
  readonly config: LiveConfig;
  readonly postgres: Postgres;
  readonly platform: LocalPlatform;
  readonly url: string;
  /** Starts a worker on the database of the fleet, or on another one; its clock may be so many ms ahead. */
  worker(at?: string, ahead?: number): Promise<ChildProcess>;
  /** Copies the database as it is now, in the middle of everything; resolves with the address of the copy. */
  copy(name: string): Promise<string>;
  /** Adds an uploaded manifest with so many databases; resolves with the run. */
  add(
    name: string,
    text: string,
    auto?: "safe" | "none",
  ): Promise<{ readonly manifest: string; readonly run: string }>;
  run(id: string): Promise<RunRow>;
  /** Waits until a run is in one of these states, or in an end. */
  until(id: string, ...statuses: readonly RunStatus[]): Promise<RunRow>;
  close(): Promise<void>;
}

const password = "fleet-password-of-tests";

/** Text of a manifest with free databases of these names. */
export function manifestText(name: string, databases: readonly string[], extra = ""): string {
  const rows = databases.map(
    (database) =>
      `  ${database}: { tier: free, component: free, cloudProvider: aws, region: us-east-1, config: { name: ${name}-${database}, graphdbUser: app, graphdbPassword: "\${secret.db}"${extra} } }`,
  );
  return `apiVersion: graphform/v1\nname: ${name}\nsecrets: { db: { env: SHOP_DB } }\ninstances:\n${rows.join("\n")}\n`;
}

/** A module that sets the clock of its process ahead. */
const clockAhead = (ms: number): string => `
  const Right = Date;
  const now = () => Right.now() + ${ms};
  globalThis.Date = class extends Right {
    constructor(...given) { super(...(given.length === 0 ? [now()] : given)); }
    static now = now;
  };`;

export async function openFleet(
  options: readonly string[] = [],
  tenants: readonly string[] = ["shop"],
  maxConcurrent = 4,
): Promise<Fleet> {
  const postgres = await openPostgres();
  const user: Workspace = openWorkspace();
  const platform = await platformUp(user, "--engine", "none", "--delay", "5", ...options);
  const url = `postgres://root:${postgres.password}@127.0.0.1:${postgres.port}/ops`;
  const database: Database = openDatabase(url, () => undefined);
  await postgres.sql(creation(tablesIn("graphform", 10_000), false));
  await migrate(database);
  await installQueue(url);
  const queue: Queue = await startQueue(url, () => undefined);
  const tenant: ControllerConfig["tenants"][string] = {
    service: { platformUrl: platform.url, profile: quickProfileFile },
    credentials: { username: { env: "SERVICE_USERNAME" }, password: { env: "SERVICE_PASSWORD" } },
    secrets: { envPrefix: "SHOP_", commands: {} },
    auto: "safe",
    maxConcurrent,
  };
  const current: ControllerConfig = {
    tenants: Object.fromEntries(tenants.map((name) => [name, tenant])),
    git: { allow: [], credentials: [] },
    webhooks: {},
    hooks: {},
    http: { trustProxy: [] },
  };
  const config: LiveConfig = { current: () => current, reload: async () => undefined };
  const children = new Set<ChildProcess>();
  const temporary = join(user.dir, "tmp");
  mkdirSync(temporary);
  const env = {
    ...process.env,
    // A worker that is killed leaves its checkouts.
    TMPDIR: temporary,
    DATABASE_URL: url,
    CONFIG: JSON.stringify(current),
    SHOP_DB: password,
    SERVICE_USERNAME: platform.username,
    SERVICE_PASSWORD: platform.password,
    GRAPHFORM_USERNAME: platform.username,
    GRAPHFORM_PASSWORD: platform.password,
  };
  const run = async (id: string): Promise<RunRow> =>
    database.selectFrom("runs").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  return {
    ...{ postgres, platform, url, database, queue, config, run },
    async copy(name) {
      const client = new pg.Client({ connectionString: url.replace(/ops$/, "postgres") });
      await client.connect();
      // A template has no other connections; the workers come back.
      await client.query("ALTER DATABASE ops ALLOW_CONNECTIONS false");
      await client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ops'");
      await client.query(`CREATE DATABASE ${name} TEMPLATE ops`);
      await client.query("ALTER DATABASE ops ALLOW_CONNECTIONS true");
      await client.end();
      return url.replace(/ops$/, name);
    },
    async worker(at = url, ahead = 0) {
      const clock =
        ahead === 0 ? [] : ["--import", `data:text/javascript,${encodeURIComponent(clockAhead(ahead))}`];
      const child = spawn(process.execPath, [...clock, join(import.meta.dirname, "worker-process.ts")], {
        env: { ...env, DATABASE_URL: at },
        stdio: ["ignore", "pipe", ahead === 0 ? "inherit" : "pipe"],
      });
      children.add(child);
      await new Promise((resolve) => child.stdout?.once("data", resolve));
      return child;
    },
    async add(name, text, auto = "safe") {
      const added = await addManifest(
        { database, queue },
        {
          ...{ tenant: tenants[0] ?? "shop", name, auto, interval_seconds: 3600, actor: "test" },
          source: { type: "upload" },
          files: { "graphform.yaml": text },
        },
      );
      if ("refused" in added) throw new Error(added.message);
      return added;
    },
    async until(id, ...statuses) {
      for (;;) {
        const row = await run(id);
        if (statuses.includes(row.status) || isEnd(row.status)) return row;
        await pause(200);
      }
    },
    async close() {
      for (const child of children) child.kill("SIGKILL");
      await queue.stop(1_000);
      await database.destroy();
      await user.close();
      await postgres.close();
    },
  };
}
