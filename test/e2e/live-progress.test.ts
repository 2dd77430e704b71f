import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
// biome-ignore lint/correctness/noUnresolvedImports: a CommonJS package has a default export at run time.
import xterm from "@xterm/headless";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { FakeService } from "../support/fake-service.ts";
import { openWorkspace, type Workspace } from "../support/workspace.ts";

/** Runs a command on a terminal of its own (util-linux). */
const script = "/usr/bin/script";

let user: Workspace;
let service: FakeService;

beforeEach(async () => {
  service = await FakeService.start();
  user = openWorkspace(`apiVersion: graphform/v1
name: live
service: { platformUrl: "${service.url}" }
instances:
  many:
    forEach: [a, b, c]
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: "many-\${each.key}", graphdbUser: app, graphdbPassword: "\${env.LIVE_PASSWORD}" }
`);
  Object.assign(user.env, service.env, {
    LIVE_PASSWORD: "a-password-of-tests",
    TERM: "xterm-256color",
    CI: "",
  });
});
afterEach(async () => {
  await user.close();
  await service.close();
});

describe.runIf(existsSync(script))("progress on a terminal", () => {
  it("leaves every finished step once, and nothing of what was drawn", async () => {
    const program = join(inject("packaged"), "bin", "graphform.js");
    const line = `stty cols 80 rows 24; exec '${process.execPath}' '${program}' apply --auto-approve`;
    const child = spawn(script, ["-qefc", line, "/dev/null"], {
      cwd: user.dir,
      env: { ...user.env, SHELL: "/bin/sh" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const screen = new xterm.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
    let printed = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => {
      printed += text;
    });
    const [code] = await once(child, "close");
    await new Promise<void>((resolve) => screen.write(printed, resolve));
    const { active } = screen.buffer;
    const rows = Array.from(
      { length: active.length },
      (_, at) => active.getLine(at)?.translateToString(true) ?? "",
    );
    const shown = rows.filter((row) => row !== "");
    expect(code).toBe(0);
    // Drawn while it ran, and gone at the end.
    expect(printed).toMatch(/of 3 done/);
    expect(printed).toMatch(/reading the service|read/);
    expect(shown.filter((row) => /: created in /.test(row))).toHaveLength(3);
    expect(shown.filter((row) => /of 3 done ·|usually|reading the service/.test(row))).toEqual([]);
    expect(shown.slice(-2)).toEqual([
      expect.stringMatching(/^Total: 3 of 3 steps done in /),
      "Apply complete! Resources: 3 added, 0 changed, 0 destroyed.",
    ]);
    expect(printed.lastIndexOf("\u001b[?25h")).toBeGreaterThan(printed.lastIndexOf("\u001b[?25l"));
  });
});
