import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { shellWord } from "../../src/model/errors.ts";
import { stateFormatter } from "../../src/state/document.ts";
import { sampleState } from "../state/samples.ts";
import { type SharedStore, sharedStores } from "../support/shared-stores.ts";
import { openWorkspace, type Ran, type Workspace } from "../support/workspace.ts";

/**
 * Before its last write, between two stores. `MOVES=all RESOURCES=1000 npm run test:all -- test/e2e/killed-migration.test.ts` plays every
 * pair there and back, killed before every write, with a state of that size.
 */
const isAll = process.env["MOVES"] === "all";
const kinds = isAll ? ["file", "http, gitlab", "http, plain", "s3", "postgres"] : ["s3", "http, plain"];
const pairs = kinds.flatMap((one, index) => kinds.slice(index + 1).map((other) => [one, other] as const));
const count = Number(process.env["RESOURCES"] ?? 20);
const killer = fileURLToPath(new URL("../support/kill-at-write.js", import.meta.url));

/** Writes of a move between two shared stores. */
const fewest = 3;

describe.each(pairs)("a state that moves between %s and %s", (one, other) => {
  let user: Workspace;
  const stores = new Map<string, SharedStore>();

  beforeAll(async () => {
    for (const kind of [one, other]) {
      const start = sharedStores[kind];
      if (start !== undefined) stores.set(kind, await start("shop"));
    }
    const section = stores.get(one)?.section ?? stores.get(other)?.section ?? {};
    user = openWorkspace(`apiVersion: graphform/v1
name: shop
service: { platformUrl: "http://127.0.0.1:9" }
state: ${JSON.stringify(stores.get("http, plain")?.section ?? section)}
instances: {}
`);
    for (const { env } of stores.values()) Object.assign(user.env, env);
    const gitlab = stores.get("http, gitlab");
    if (gitlab !== undefined)
      Object.assign(user.env, {
        GRAPHFORM_STATE: gitlab.address,
        GRAPHFORM_STATE_TO_USERNAME: gitlab.env["GRAPHFORM_STATE_USERNAME"],
        GRAPHFORM_STATE_TO_PASSWORD: gitlab.env["GRAPHFORM_STATE_PASSWORD"],
      });
  }, 240_000);
  afterAll(async () => {
    await user?.close();
    for (const store of stores.values()) await store.close();
  });

  const address = (kind: string): string =>
    decodeURIComponent(stores.get(kind)?.address ?? join(user.dir, "kept.state.json"));

  /** Lets whoever comes next have the lock of a process that was killed. */
  const free = async (kind: string): Promise<void> => {
    await stores.get(kind)?.expire();
    const held = await user.run("state", "unlock", "--state", address(kind));
    const [, id] = /graphform state unlock (\S+)/.exec(held.out) ?? [];
    if (id !== undefined)
      expect(await user.run("state", "unlock", id, "--force", "--state", address(kind))).toMatchObject({
        code: 0,
      });
  };
  const listed = async (kind: string): Promise<Ran & { readonly has: number }> => {
    const ran = await user.run("state", "list", "--json", "--state", address(kind));
    return { ...ran, has: ran.code === 0 ? JSON.parse(ran.out).length : 0 };
  };
  const begin = async (from: string): Promise<void> => {
    if ((await listed(from)).has > 0) return;
    const file = join(user.dir, `begun-${one}-${other}.json`.replaceAll(/[ ,]/g, "-"));
    writeFileSync(file, stateFormatter()({ ...sampleState(count), lineage: `of ${one} and ${other}` }));
    const begun = await user.run("state", "migrate", "--state", file, "--to", address(from));
    expect(begun, begun.err).toMatchObject({ code: 0 });
  };
  const migrate = (from: string, to: string): Promise<Ran> =>
    user.run("state", "migrate", "--state", address(from), "--to", address(to));

  /** The old place has all, or both refuse and name the command that finishes the move, which is run. Returns the one that has all. */
  const finished = async (from: string, to: string): Promise<string> => {
    const [old, fresh] = [await listed(from), await listed(to)];
    expect([old.has, fresh.has], `${old.err}${fresh.err}`).toEqual([old.code === 0 ? count : 0, 0]);
    // Before its copy the new place has nothing, or what an earlier move or a takeover of its lock left.
    if (fresh.code !== 0) expect(fresh.err).toContain("graphform state migrate --state");
    for (const kind of [from, to]) await free(kind);
    if (old.code === 0) return from;
    const command = `graphform state migrate --state ${shellWord(address(from))} --to ${shellWord(address(to))}`;
    for (const { err } of [old, fresh]) expect(err).toContain(command);
    expect(await migrate(from, to)).toMatchObject({ code: 0 });
    return to;
  };

  /** Kills a move before this write, and uses what is left. False where the move has fewer writes, and is done. */
  const killed = async (from: string, to: string, at: number): Promise<boolean> => {
    const { child, ended } = start(from, to, at);
    const { code, err } = await ended;
    if (code === 0) return false;
    expect(child.signalCode, err).toBe("SIGKILL");
    const whole = await finished(from, to);
    const number = from === one ? at : at + 10;
    const names = [`instances.db${number}`, `instances.moved${number}`];
    const renamed = await user.run("state", "mv", ...names, "--state", address(whole));
    expect(renamed, renamed.err).toMatchObject({ code: 0 });
    if (whole === to)
      for (const way of isAll ? [to, from] : []) {
        const moved = await migrate(way === to ? from : to, way);
        expect(moved, moved.err).toMatchObject({ code: 0 });
      }
    return true;
  };

  const ways = [
    [one, other],
    [other, one],
  ] as const;
  it.each(isAll ? ways : ways.slice(0, 1))(
    `is whole in one, and refused in the other, after kill -9 before any write, from %s to %s, with ${count} resources`,
    async (from, to) => {
      await begin(from);
      if (isAll) {
        let kills = 0;
        while (await killed(from, to, kills + 1)) kills += 1;
        expect(kills).toBeGreaterThanOrEqual(fewest);
      } else {
        expect(await killed(from, to, fewest)).toBe(true);
        expect(await migrate(from, to)).toMatchObject({ code: 0 });
      }
      const done = [await listed(from), await listed(to)];
      expect(done).toMatchObject([{ code: 1, err: expect.stringContaining("was moved to") }, { has: count }]);
    },
    600_000,
  );

  const start = (from: string, to: string, at: number): ReturnType<Workspace["start"]> => {
    Object.assign(user.env, { NODE_OPTIONS: `--import=${killer}`, KILL_AT: String(at) });
    const started = user.start("state", "migrate", "--state", address(from), "--to", address(to));
    for (const name of ["NODE_OPTIONS", "KILL_AT"]) delete user.env[name];
    return started;
  };
});
