import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it, vi } from "vitest";
import { lookUpElsewhere } from "../../src/database/names.ts";

vi.mock("node:child_process", async (original) => {
  const real = await original<typeof import("node:child_process")>();
  return { ...real, spawn: vi.fn(real.spawn) };
});

/** Longer than any name may be: the system refuses it without asking a server. */
const impossible = "a".repeat(300);

/** The processes that were started for look-ups while `work` ran. */
async function startedBy(work: () => Promise<unknown>): Promise<readonly ChildProcess[]> {
  vi.mocked(spawn).mockClear();
  await work();
  return vi.mocked(spawn).mock.results.flatMap(({ value }) => (value === undefined ? [] : [value]));
}

describe("lookUpElsewhere", () => {
  it("finds what this machine's files and servers know, all by one process", async () => {
    const lookUp = lookUpElsewhere(2, 60_000);
    const started = await startedBy(async () => {
      expect((await lookUp("localhost")).map(({ address }) => address)).toContain("127.0.0.1");
      await expect(lookUp(impossible)).rejects.toMatchObject({ syscall: "getaddrinfo" });
      expect(await lookUp("127.0.0.1")).toEqual([{ address: "127.0.0.1", family: 4 }]);
    });
    expect(started).toHaveLength(1);
    started[0]?.kill("SIGKILL");
  });

  it("hands over nothing of the environment that look-ups do not need", async () => {
    vi.stubEnv("GRAPHFORM_PASSWORD", "correct horse");
    const lookUp = lookUpElsewhere(1, 60_000);
    const [child] = await startedBy(() => lookUp("localhost"));
    expect(JSON.stringify(vi.mocked(spawn).mock.calls)).not.toContain("correct horse");
    child?.kill("SIGKILL");
    vi.unstubAllEnvs();
  });

  it("ends the process once nobody asks, and starts another for who asks then", async () => {
    const lookUp = lookUpElsewhere(1, 20);
    const started = await startedBy(async () => {
      await lookUp("localhost");
      const [first] = vi.mocked(spawn).mock.results;
      if (first?.value.exitCode === null && first.value.signalCode === null) await once(first.value, "exit");
      await lookUp("localhost");
    });
    expect(started).toHaveLength(2);
  });

  it("has a process that ends when its input does, also one that interrupts do not end", async () => {
    const lookUp = lookUpElsewhere(1, 60_000);
    const [child] = await startedBy(() => lookUp("localhost"));
    if (child === undefined) throw new Error("nothing was started");
    child.kill("SIGINT");
    await lookUp("localhost");
    const exit = once(child, "exit");
    child.stdin?.end();
    expect(await exit).toEqual([null, "SIGKILL"]);
  });

  it("fails what is asked of a process that is gone, and starts another for the next", async () => {
    const lookUp = lookUpElsewhere(1, 60_000);
    const started = await startedBy(async () => {
      const answer = lookUp("localhost");
      await vi.waitFor(() => expect(vi.mocked(spawn).mock.results).toHaveLength(1));
      vi.mocked(spawn).mock.results[0]?.value.kill("SIGKILL");
      await expect(answer).rejects.toMatchObject({
        code: "EAI_AGAIN",
        syscall: "getaddrinfo",
      });
      await lookUp("localhost");
    });
    expect(started).toHaveLength(2);
    started[1]?.kill("SIGKILL");
  });

  it("keeps nothing running", async () => {
    const file = JSON.stringify(join(import.meta.dirname, "../../src/database/names.ts"));
    const text = `const { lookUpElsewhere } = await import(${file});
      const keep = setInterval(() => undefined, 1000);
      await lookUpElsewhere(1, 1e9)("localhost");
      clearInterval(keep);`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", text], { stdio: "inherit" });
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});
