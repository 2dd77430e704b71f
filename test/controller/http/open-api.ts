import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { ControllerConfig } from "../../../src/controller/config/config.ts";
import { type Database, openDatabase } from "../../../src/controller/database/connect.ts";
import { migrate } from "../../../src/controller/database/migrations.ts";
import type { Role, RunRow } from "../../../src/controller/database/schema.ts";
import { type AppOptions, createApp } from "../../../src/controller/http/app.ts";
import { addToken } from "../../../src/controller/http/tokens.ts";
import { installQueue, type Queue, startQueue } from "../../../src/controller/queue/queue.ts";
import { createPostgresDriver } from "../../../src/state/remote/postgres/postgres-driver.ts";
import { openPostgres, type Postgres } from "../../support/postgres.ts";

/** The API of a test on a real PostgreSQL, without a worker: runs go nowhere by themselves. */
export interface TestApi {
  readonly postgres: Postgres;
  readonly database: Database;
  readonly queue: Queue;
  /** The configuration in force; its parts may be replaced. */
  readonly config: { -readonly [part in keyof ControllerConfig]: ControllerConfig[part] };
  /** Tokens of the tenant `shop` by role, of `bank`, and of all tenants. */
  readonly tokens: { readonly [name in Role | "bank" | "all"]: string };
  readonly troubles: unknown[];
  /** Sends a request without a socket. A body that is no text is sent as JSON. */
  send(method: string, path: string, options?: SendOptions): Promise<Sent>;
  /** Adds a manifest of a tenant by upload; resolves with its id and its run. */
  add(tenant: string, name: string): Promise<{ readonly manifest: string; readonly run: string }>;
  /** Puts a run where a worker would have put it. */
  put(run: string, columns: Partial<Omit<RunRow, "created_at"> & { readonly plan: object }>): Promise<void>;
  /** Another app on the same database. */
  app(options?: Partial<AppOptions>): ReturnType<typeof createApp>;
  /** Listens on a port of this machine. */
  listen(options?: Partial<AppOptions>): Promise<{ readonly url: string; readonly server: Server }>;
  close(): Promise<void>;
}

export interface SendOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
}

export interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined if it is none. */
  readonly json: unknown;
}

export const files = { "graphform.yaml": "apiVersion: graphform/v1\nname: orders\n" };

export async function openApi(): Promise<TestApi> {
  const postgres = await openPostgres();
  const url = `postgres://root:${postgres.password}@127.0.0.1:${postgres.port}/ops`;
  const troubles: unknown[] = [];
  const database = openDatabase(url, (error) => troubles.push(error));
  await createPostgresDriver({ name: "shop/first" }, postgres.credentials).prepare();
  await migrate(database);
  await installQueue(url);
  const queue = await startQueue(url, (error) => troubles.push(error));
  const tenant = { service: {}, secrets: { commands: {} }, auto: "none", maxConcurrent: 4 } as const;
  const config: TestApi["config"] = {
    tenants: { shop: tenant, bank: tenant },
    git: { allow: ["https://git.example.com/*"], credentials: [] },
    webhooks: {},
    hooks: {},
    http: { trustProxy: [] },
  };
  const app = (options: Partial<AppOptions> = {}): ReturnType<typeof createApp> =>
    createApp({
      ...{ database, queue, version: "1.2.3", rate: { perSecond: 1e6, burst: 1e6 } },
      config: { current: () => config, reload: async () => undefined },
      streams: { poll: 20 },
      onTrouble: (error) => troubles.push(error),
      ...options,
    });
  const one = app();
  const token = async (role: Role, tenant: string | null): Promise<string> => {
    const request = { name: `${role} of ${tenant}`, role, tenant, actor: "the test" };
    return (await database.transaction().execute((tx) => addToken(tx, request))).token;
  };
  const tokens = {
    viewer: await token("viewer", "shop"),
    planner: await token("planner", "shop"),
    approver: await token("approver", "shop"),
    admin: await token("admin", "shop"),
    bank: await token("admin", "bank"),
    all: await token("admin", null),
  };
  const servers = new Set<Server>();
  const send: TestApi["send"] = (method, path, options = {}) => sendTo(one, method, path, options);
  return {
    ...{ postgres, database, queue, config, tokens, troubles, app, send },
    async add(tenant, name) {
      const body = { tenant, name, source: { type: "upload" }, files };
      const { status, text } = await send("POST", "/api/v1/manifests", { token: tokens.all, body });
      if (status !== 201) throw new Error(text);
      const { manifest, run } = JSON.parse(text);
      return { manifest: manifest.id, run };
    },
    async put(run, columns) {
      const { plan, counts, reasons, ...plain } = columns;
      const values = {
        ...plain,
        ...(counts === undefined ? {} : { counts: JSON.stringify(counts) }),
        ...(reasons === undefined ? {} : { reasons: JSON.stringify(reasons) }),
      };
      if (Object.keys(values).length > 0)
        await database.updateTable("runs").set(values).where("id", "=", run).execute();
      const document = JSON.stringify(plan);
      if (plan !== undefined) await database.insertInto("plans").values({ run_id: run, document }).execute();
    },
    async listen(options) {
      const server = createServer(getRequestListener(app(options).fetch, { overrideGlobalObjects: false }));
      servers.add(server);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      return { url: `http://127.0.0.1:${port}`, server };
    },
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
      await queue.stop(0);
      await database.destroy();
      await postgres.close();
    },
  };
}

/** Sends a request to an app. */
export async function sendTo(
  app: ReturnType<typeof createApp>,
  method: string,
  path: string,
  { token, body, headers = {} }: SendOptions = {},
): Promise<Sent> {
  const isText = typeof body === "string" || body instanceof Uint8Array;
  const response = await app.request(`http://localhost${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: jsonIn(text) };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
