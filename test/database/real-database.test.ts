import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ping, probe, setParameters } from "../../src/database/parameters.ts";
import { type Database, ensureAuthority, setupEngine } from "../../src/platform/engine/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const never = new AbortController().signal;
const search = await setupEngine();
const password = "correct horse battery staple";
const parameters = {
  CACHE_SIZE: 100,
  MAX_QUEUED_QUERIES: 60,
  NODE_CREATION_BUFFER: 20_000,
  QUERY_MEM_CAPACITY: 21_474_836_480,
  RESULTSET_SIZE: -1,
  TIMEOUT_DEFAULT: 1000,
  TIMEOUT_MAX: 45_000,
};

/** Skipped where no database server can be had for this machine: the reason is printed with the skip. */
describe.skipIf(search.engine === undefined)(
  `a real database (${search.engine === undefined ? search.reason : search.engine.why})`,
  () => {
    let dir = "";
    let caFile = "";
    let database: Database | undefined;

    beforeAll(async () => {
      dir = temporaryFolder("database");
      const maxMemoryBytes = 1024 ** 3;
      const tls = await ensureAuthority(dir);
      caFile = tls.caFile;
      const spec = {
        dir: join(dir, "db"),
        user: "app",
        password,
        nodes: 1,
        tls,
        maxMemoryBytes,
        aof: "always",
      } as const;
      database = await search.engine?.start({ ...spec, parameters });
    }, 240_000);

    afterAll(async () => {
      await search.engine?.destroy(join(dir, "db"));
    });

    const target = (): Parameters<typeof ping>[0] => ({
      host: "localhost",
      port: database?.port() ?? 0,
      username: "app",
      password,
      tls: { caFile },
    });

    it("answers its user, and refuses everybody else", async () => {
      expect(await ping(target(), never)).toBe("answered");
      expect(await ping({ ...target(), password: "another" }, never)).toBe("refused-credentials");
      expect(await ping({ ...target(), username: "nobody" }, never)).toBe("refused-credentials");
      expect(await ping({ ...target(), tls: true }, never)).toBe("not-trusted");
    });

    it("shows the settings that it was given", async () => {
      const found = await probe(target(), never);
      expect(found.info).toMatchObject({
        maxmemory: String(1024 ** 3),
        aof_enabled: "1",
        connected_slaves: "0",
      });
      expect(found.parameters).toMatchObject({ ...parameters, NODE_CREATION_BUFFER: 32_768 });
      expect(found).toMatchObject({ denied: [], engine: expect.stringMatching(/^4\.\d+\.\d+$/) });
    });

    it("has its time limits set from any values to any others", async () => {
      const limits = [
        [45_000, 1000],
        [500, 100],
        [20_000, 10_000],
        [0, 30_000],
        [200, 0],
        [0, 0],
        [45_000, 1000],
      ] as const;
      for (const [maximum, preset] of limits) {
        const wanted = { TIMEOUT_MAX: maximum, TIMEOUT_DEFAULT: preset };
        await setParameters(target(), wanted, never);
        expect((await probe(target(), never)).parameters).toMatchObject(wanted);
      }
    });

    it("refuses to set what it reads when it starts", async () => {
      await expect(setParameters(target(), { CACHE_SIZE: 50 }, never)).rejects.toThrow("run-time");
    });

    it("is unreachable once it was stopped", async () => {
      await database?.stop();
      expect(await ping(target(), never)).toBe("unreachable");
    });
  },
);
