import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHook } from "../../src/replace/hook.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const silent = new AbortController().signal;
const never = { stopping: silent, aborting: silent };
const shell = (script: string): readonly string[] => ["/bin/sh", "-c", script];

describe("a hook", () => {
  it("that hangs ends after its time, with what it has started", async () => {
    const file = join(temporaryFolder("hook"), "pid");
    const command = shell(`sleep 60 & echo $! > ${file}; wait`);
    expect(await runHook(command, {}, never, 300)).toBe("it did not end within 0.3 s");
    const pid = Number(readFileSync(file, "utf8"));
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it("gets SIGTERM when the run is to stop, and SIGKILL when it is aborted, with what it has started", async () => {
    const started = Date.now();
    const stopped = (stopping: AbortSignal): object => ({ ...never, stopping });
    const end = async (script: string, signals: object): Promise<string | undefined> =>
      runHook(shell(script), {}, { ...never, ...signals });
    expect(await end("sleep 60", stopped(AbortSignal.timeout(100)))).toBe("it ended with SIGTERM");
    expect(await end("sleep 60", stopped(AbortSignal.abort()))).toBe("it ended with SIGTERM");
    const stubborn = { stopping: AbortSignal.timeout(500), aborting: AbortSignal.timeout(1000) };
    expect(await end("trap '' TERM; sleep 60", stubborn)).toBe("it ended with SIGKILL");
    expect(Date.now() - started).toBeLessThan(20_000);
  });

  it.each([
    [shell('[ "$GRAPHFORM_ID" = one ] && [ -z "$APP_PASSWORD" ]'), undefined],
    [shell("exit 3"), "it ended with 3"],
    [["/no/such/command"], expect.stringMatching(/^it could not run: .*ENOENT/)],
  ])("%j says %s", async (command, reason) => {
    process.env["APP_PASSWORD"] = "secret";
    expect(await runHook(command, { GRAPHFORM_ID: "one" }, never)).toEqual(reason);
  });
});

/** False for a process that ended and waits for its parent, too. */
function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
