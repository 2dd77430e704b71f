import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Controller, startController } from "../../src/controller/serve.ts";
import { openPostgres, type Postgres } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let postgres: Postgres;
beforeAll(async () => {
  postgres = await openPostgres();
}, 60_000);
afterAll(() => postgres?.close());

it("is made at the next start if its file could not be written", async () => {
  const folder = temporaryFolder("first-token");
  const start = (tokenFile: string): Promise<Controller> =>
    startController({
      database: { url: `postgres://root:${postgres.password}@127.0.0.1:${postgres.port}/ops` },
      ...{ isMigrating: true, role: "api", listen: { host: "127.0.0.1", port: 0 }, slots: 1 },
      ...{ configFile: undefined, tokenFile, version: "test", thread: new URL("file:///none") },
      say: () => undefined,
    });
  const [taken, free] = [join(folder, "taken"), join(folder, "free")];
  mkdirSync(taken);
  await expect(start(taken)).rejects.toMatchObject({ code: "token-file" });
  expect(await postgres.sql("SELECT FROM graphform.tokens")).toEqual([]);
  const controller = await start(free);
  try {
    expect(controller.tokenFile).toBe(free);
    expect(statSync(free).mode & 0o777).toBe(0o600);
    const authorization = `Bearer ${readFileSync(free, "utf8").trim()}`;
    const answer = await fetch(new URL("/api/v1/tenants", controller.url ?? ""), {
      headers: { authorization },
    });
    expect(answer.status).toBe(200);
  } finally {
    await controller.stop();
  }
}, 60_000);
