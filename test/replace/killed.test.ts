import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask } from "../support/local-platform.ts";
import { login, movedManifest, startMoved } from "../support/moved-database.ts";
import { numbersAt, writeNumbers } from "../support/number-writer.ts";
import { quickProfileFile } from "../support/quick-profile.ts";
import type { Workspace } from "../support/workspace.ts";

const killer = fileURLToPath(new URL("../support/kill-at-phase.js", import.meta.url));
const cutover = ["apply", "--auto-approve", "--cutover", "instances.orders"] as const;

function manifest(cache: number): string {
  return movedManifest({
    name: "killed",
    cache,
    lifecycle: "protect: false, migration: { maxReadOnly: 1h, hold: 1s }",
    more: `service: { profile: ${quickProfileFile} }\n`,
  });
}

let user: Workspace;
let cache = 25;
beforeAll(async () => {
  user = await startMoved(manifest(cache));
});
afterAll(() => user.close());

async function endpoint(): Promise<string> {
  const { code, out, err } = await user.run("output", "orders", "--raw");
  if (code !== 0) throw new Error(err);
  return out.trim();
}

describe("a migration that is killed at a phase, under a writer", () => {
  const before = ["rehearse", "await-cutover", "quiesce", "freeze", "copy", "verify", "durable"] as const;
  it.each([...before, "fence", "switched"] as const)(
    "at %s goes on in the next run and loses nothing",
    async (phase) => {
      cache += 1;
      user.write("graphform.yaml", manifest(cache));
      const writing = writeNumbers(cache * 1_000_000, login, endpoint);
      user.env["KILL_AT_PHASE"] = phase;
      user.env["NODE_OPTIONS"] = `--import=${killer}`;
      const { child, ended } = user.start(...cutover);
      const { err, out } = await ended;
      user.env["NODE_OPTIONS"] = undefined;
      expect(child.signalCode, out + err).toBe("SIGKILL");
      if (phase === "quiesce") {
        const planned = await user.run("plan");
        expect(planned.err).toContain("takes writes again");
        const [name, value] = JSON.parse(
          JSON.stringify(await ask(await endpoint(), login, "GRAPH.CONFIG", "GET", "QUERY_MEM_CAPACITY")),
        );
        expect([name, value > 1]).toEqual(["QUERY_MEM_CAPACITY", true]);
      }
      let last = await user.run(...cutover);
      if (last.code === 8) last = await user.run(...cutover);
      expect(last, last.out + last.err).toMatchObject({ code: 0 });
      const acknowledged = await writing.stop();
      const found = await numbersAt(await endpoint(), login);
      expect(acknowledged.filter((number) => !found.has(number))).toEqual([]);
      expect(acknowledged.length).toBeGreaterThan(0);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const retired = await user.run("apply", "--auto-approve");
      expect(retired, retired.out + retired.err).toMatchObject({ code: 0 });
      expect(Object.keys(user.state("killed").resources)).toEqual(["instances.orders"]);
    },
  );
});
