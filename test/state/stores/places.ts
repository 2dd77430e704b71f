import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Clock, systemClock } from "../../../src/model/clock.ts";
import { createFileStore } from "../../../src/state/file-store.ts";
import { createRemoteStore } from "../../../src/state/remote/create-remote-store.ts";
import type { StateDriver } from "../../../src/state/remote/driver.ts";
import { createHttpDriver } from "../../../src/state/remote/http/http-driver.ts";
import { createPostgresDriver } from "../../../src/state/remote/postgres/postgres-driver.ts";
import { createS3Driver } from "../../../src/state/remote/s3/s3-driver.ts";
import type { DurableStore } from "../../../src/state/store.ts";
import type { Postgres } from "../../support/postgres.ts";
import { startS3Server } from "../../support/s3-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type ServerDialect, startTerraformServer } from "../../support/terraform-server.ts";
import { memoryBackend, memoryDriver } from "./memory-driver.ts";

/** A place that a state called "shop" can be in. */
export interface Place {
  readonly address: string;
  /** The store as a new process has it. */
  open(): DurableStore;
  /** Frees the lock of a process that was killed. */
  free(): Promise<void>;
}

/** An empty file. */
export async function filePlace(): Promise<Place> {
  const address = join(temporaryFolder("store"), "shop.state.json");
  const open = (): DurableStore => createFileStore({ path: address, name: "shop" });
  return { address, open, free: () => unlock(open()) };
}

/** A shared store without a protocol. */
export async function memoryPlace(): Promise<Place> {
  let passed = 0;
  const backend = memoryBackend(() => Date.now() + passed);
  return remotePlace(
    `memory://shop/${randomUUID()}`,
    () => memoryDriver(backend),
    async () => {
      passed += 120_000;
    },
  );
}

/** An empty state behind Terraform's protocol, whose locks a person frees. */
export async function httpPlace(dialect: ServerDialect): Promise<Place> {
  const server = await startTerraformServer(dialect);
  onTestFinished(() => server.close());
  const { address, lockAddress } = server;
  const config = { address, settle: 0, ...(dialect === "plain" ? { lockAddress } : {}) };
  return remotePlace(address, () => createHttpDriver(config, () => server));
}

/** An empty bucket. */
export async function s3Place(): Promise<Place> {
  const server = await startS3Server();
  onTestFinished(() => server.close());
  const { bucket, origin: endpoint } = server;
  const config = { bucket, key: "teams/shop.json", endpoint };
  const open = (): StateDriver => createS3Driver(config, async () => server);
  return remotePlace(`s3://${bucket}/teams/shop.json?endpoint=${endpoint}`, open, async () =>
    server.advance(120_000),
  );
}

/** A row of a database that is prepared. */
export async function postgresPlace({ credentials, sql }: Postgres, name: string): Promise<Place> {
  const open = (): StateDriver => createPostgresDriver({ name }, credentials);
  return remotePlace(`postgres:///?name=${name}`, open, async () => {
    await sql("UPDATE graphform.locks SET expires_at = clock_timestamp() WHERE name = $1", [name]);
  });
}

async function remotePlace(
  address: string,
  driver: () => StateDriver,
  expire?: () => Promise<void>,
): Promise<Place> {
  const erroredFile = join(temporaryFolder("store"), "shop.errored.state.json");
  const open = (): DurableStore => {
    const mine = driver();
    onTestFinished(() => mine.close());
    const time = { clock: hurried, monotonic: () => performance.now(), every: () => () => undefined };
    return createRemoteStore(mine, { name: "shop", erroredFile, ...time });
  };
  return { address, open, free: expire ?? (() => unlock(open())) };
}

async function unlock(store: DurableStore): Promise<void> {
  const holder = await store.holder();
  if (holder !== undefined) await store.unlock(holder.id, { force: true });
  await store.close();
}

const hurried: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 50, signal) };
