import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { probe } from "../../src/database/probe.ts";
import { sameParameter } from "../../src/database/same-parameter.ts";
import { verify } from "../../src/database/verify.ts";
import { type Database, ensureAuthority, setupEngine } from "../../src/platform/engine/index.ts";

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
const declared = { ...parameters, RESULTSET_SIZE: 0, maxmemory: "1GB" };

/** Skipped where no database server can be had for this machine: the reason is printed with the skip. */
describe.skipIf(search.engine === undefined)(
  `a real database (${search.engine === undefined ? search.reason : search.engine.why})`,
  () => {
    let dir = "";
    let caFile = "";
    let database: Database | undefined;

    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), "graphform-database-"));
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
    }, 60_000);

    afterAll(async () => {
      await search.engine?.destroy(join(dir, "db"));
      await rm(dir, { recursive: true, force: true });
    });

    const target = (): Parameters<typeof verify>[0] => ({
      host: "localhost",
      port: database?.port() ?? 0,
      username: "app",
      password,
      tls: { caFile },
    });

    it("answers its user, and refuses everybody else", async () => {
      expect(await verify(target(), never)).toBe("answered");
      expect(await verify({ ...target(), password: "another" }, never)).toBe("refused-credentials");
      expect(await verify({ ...target(), username: "nobody" }, never)).toBe("refused-credentials");
      expect(await verify({ ...target(), tls: true }, never)).toBe("unreachable");
    });

    it("shows the settings that it was given", async () => {
      const found = await probe(target(), Object.keys(parameters), never);
      expect(found).toMatchObject({ maxmemory: 1024 ** 3, aof_enabled: 1, connected_slaves: 0 });
      for (const [name, value] of Object.entries(declared)) {
        expect([name, sameParameter(name, value, found[name] ?? "absent")]).toEqual([name, true]);
      }
      expect(sameParameter("CACHE_SIZE", 25, found["CACHE_SIZE"] ?? "absent")).toBe(false);
    });

    it("is unreachable once it was stopped", async () => {
      await database?.stop();
      expect(await verify(target(), never)).toBe("unreachable");
    });
  },
);
