import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { openServedWorkspace, type ServedWorkspace } from "../support/served-workspace.ts";
import { processesOf, until } from "../support/workspace.ts";

/** Opens a terminal, runs a command in it, and closes it when it is killed itself (util-linux). */
const script = "/usr/bin/script";

let served: ServedWorkspace;

beforeEach(async () => {
  served = await openServedWorkspace("closed");
});
afterEach(() => served.close());

describe.runIf(existsSync(script))("a terminal that is closed", () => {
  it.each([
    ["that the run speaks to", ""],
    ["that the run was only started in", "</dev/null >said.txt 2>&1"],
    ["that nohup was to keep it from", "nohup"],
  ])("%s ends the run in order", async (_, how) => {
    const { user, service } = served;
    service.duration = 3_600_000;
    const program = join(inject("packaged"), "bin", "graphform.js");
    const run = `'${process.execPath}' '${program}' apply --auto-approve --log run.log`;
    const line = how === "nohup" ? `nohup ${run}` : `${run} ${how}`;
    // The run leads the terminal's session, as a shell's last command does.
    const terminal = spawn(script, ["-q", "-c", `exec ${line}`, "typescript"], {
      cwd: user.dir,
      env: { ...user.env, SHELL: "/bin/sh" },
      stdio: ["pipe", "ignore", "ignore"],
    });
    const begun = (): string | undefined =>
      user.state("closed").resources["instances.a"]?.converging?.operation;
    await until(begun, "the create that is waited for");
    expect(user.has(".graphform/closed.state.json.lock")).toBe(true);

    terminal.kill("SIGKILL");
    await until(() => processesOf(user.dir).length === 0 || undefined, "the end of the run");
    expect(user.has(".graphform/closed.state.json.lock")).toBe(false);
    const log = user.read("run.log").trimEnd().split("\n");
    const events: readonly { type: string; x_graphform?: { exit_code: number } }[] = log.map((each) =>
      JSON.parse(each),
    );
    expect(events.findLast(({ type }) => type === "change_summary")).toMatchObject({
      x_graphform: { exit_code: 130 },
    });

    for (const instance of service.instances.values()) instance.next = { at: 0, status: "RUNNING" };
    service.duration = 0;
    expect(await user.run("apply", "--auto-approve")).toMatchObject({ code: 0 });
    expect(service.instances.size).toBe(1);
  });
});
