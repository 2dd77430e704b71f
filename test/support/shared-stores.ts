import type { JsonObject } from "../../src/model/json.ts";
import type { SeenCall } from "./faulty-server.ts";
import { openPostgres } from "./postgres.ts";
import { startS3Server } from "./s3-server.ts";
import { openTcpProxy } from "./tcp-proxy.ts";
import { type ServerDialect, startTerraformServer } from "./terraform-server.ts";

/** A store on loopback that several runs share, and what a test does to it. */
export interface SharedStore {
  /** The `state` section of a manifest that is kept there. */
  readonly section: JsonObject;
  /** The same as `--state` and `--to` take it. */
  readonly address: string;
  /** Variables with the credentials. */
  readonly env: { readonly [name: string]: string };
  /** Texts that nothing but a request's credentials may hold. */
  readonly secrets: readonly string[];
  /** True where locks end by themselves. */
  readonly expires: boolean;
  /** What is stored. */
  text(): Promise<string | undefined>;
  /** All that it has, and all that it was sent but for credentials. */
  everything(): Promise<string>;
  /** Requests and bytes that it got, as far as it counts them. */
  received(): { readonly requests: number; readonly bytes: number };
  /** Takes it away: no request is answered. */
  away(): Promise<void>;
  back(): Promise<void>;
  /** Lets the lease that is held run out, by the store's own clock. */
  expire(): Promise<void>;
  close(): Promise<void>;
}

/** Every shared store, for suites that are the same on all of them. `name` is the manifest's. */
export const sharedStores: { readonly [kind: string]: (name: string) => Promise<SharedStore> } = {
  "http, gitlab": () => overHttp("gitlab"),
  "http, plain": () => overHttp("plain"),
  s3: inBucket,
  postgres: inDatabase,
};

async function overHttp(dialect: ServerDialect): Promise<SharedStore> {
  const server = await startTerraformServer(dialect);
  const { address, username, password } = server;
  const lock = `${address}/the-lock`;
  return {
    section: {
      ...{ type: "http", address },
      ...(dialect === "plain" ? { lockAddress: lock, unlockAddress: lock } : {}),
    },
    address,
    env: { GRAPHFORM_STATE_USERNAME: username, GRAPHFORM_STATE_PASSWORD: password },
    secrets: [password],
    expires: false,
    text: async () => server.document,
    everything: async () => textOf(server.calls),
    received: () => countOf(server.calls),
    async away() {
      server.misbehave = () => "cut-before";
    },
    async back() {
      server.misbehave = () => undefined;
    },
    expire: async () => undefined,
    close: () => server.close(),
  };
}

async function inBucket(name: string): Promise<SharedStore> {
  const server = await startS3Server();
  const key = `teams/${name}.json`;
  const { bucket, origin: endpoint, accessKeyId, secretAccessKey } = server;
  return {
    section: { type: "s3", bucket, key, endpoint },
    address: `s3://${bucket}/${key}?endpoint=${encodeURIComponent(endpoint)}`,
    env: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    secrets: [secretAccessKey],
    expires: true,
    text: async () => storedAt(server.calls, key),
    everything: async () => textOf(server.calls),
    received: () => countOf(server.calls),
    async away() {
      server.misbehave = () => "cut-before";
    },
    async back() {
      server.misbehave = () => undefined;
    },
    expire: async () => server.advance(120_000),
    close: () => server.close(),
  };
}

async function inDatabase(name: string): Promise<SharedStore> {
  const server = await openPostgres();
  const proxy = await openTcpProxy(server.port);
  return {
    section: { type: "postgres", name, sslmode: "disable" },
    address: `postgres://127.0.0.1:${proxy.port}/ops?name=${name}&sslmode=disable`,
    env: { ...server.credentials, PGPORT: String(proxy.port) },
    secrets: [server.password],
    expires: true,
    async text() {
      const rows = await server.sql("SELECT document FROM graphform.states WHERE name = $1", [name]);
      const document = rows[0]?.["document"];
      return typeof document === "string" ? document : undefined;
    },
    async everything() {
      const tables = ["states", "state_versions", "locks"];
      const rows = await Promise.all(tables.map((table) => server.sql(`SELECT * FROM graphform.${table}`)));
      return JSON.stringify(rows) + server.log();
    },
    received: () => ({ requests: proxy.chunks(), bytes: proxy.bytes() }),
    away: () => server.kill(),
    back: () => server.start(),
    async expire() {
      await server.sql("UPDATE graphform.locks SET expires_at = clock_timestamp() WHERE name = $1", [name]);
    },
    async close() {
      await proxy.close();
      await server.close();
    },
  };
}

/** The object as it was put last. */
function storedAt(calls: readonly SeenCall[], key: string): string | undefined {
  const put = calls.findLast(
    ({ method, status, url }) => method === "PUT" && status === 200 && url.pathname.endsWith(`/${key}`),
  );
  return put?.body.toString("utf8");
}

function textOf(calls: readonly SeenCall[]): string {
  return calls.map(({ target, body }) => `${target}\n${body.toString("utf8")}\n`).join("");
}

function countOf(calls: readonly SeenCall[]): { readonly requests: number; readonly bytes: number } {
  return { requests: calls.length, bytes: calls.reduce((sum, { body }) => sum + body.length, 0) };
}
