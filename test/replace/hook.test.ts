import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHook } from "../../src/replace/hook.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const never = new AbortController().signal;
const shell = (script: string): readonly string[] => ["/bin/sh", "-c", script];

describe("a hook", () => {
  it("that hangs ends after its time, with what it has started", async () => {
    const file = join(temporaryFolder("hook"), "pid");
    const command = shell(`sleep 60 & echo $! > ${file}; wait`);
    expect(await runHook(command, {}, never, 300)).toBe("it did not end within 0.3 s");
    const pid = Number(readFileSync(file, "utf8"));
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it("ends at once when the run is ended", async () => {
    const started = Date.now();
    expect(await runHook(shell("sleep 60"), {}, AbortSignal.timeout(100))).toBe("it ended with SIGKILL");
    expect(await runHook(shell("sleep 60"), {}, AbortSignal.abort())).toBe("it ended with SIGKILL");
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
