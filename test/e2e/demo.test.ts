import { spawnSync } from "node:child_process";
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it, onTestFinished } from "vitest";

const program = join(import.meta.dirname, "..", "..", "scripts", "demo.ts");

/** What a program did. */
interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function demo(...args: readonly string[]): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

/** Runs lines of a shell, as a person types them. */
function typed(lines: string): Ended {
  const script = `shopt -s expand_aliases\nset -e\n${lines}\n`;
  const { status, stdout, stderr } = spawnSync("bash", ["-s"], { input: script, encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("the demo", () => {
  it("with --keep leaves the platform running, and prints lines that look at it and end it", {
    timeout: 240_000,
  }, () => {
    const { status, stdout, stderr } = demo("--keep");
    const [, told = ""] = stdout.split("its folder stays\n");
    const [start = "", look = "", end = ""] = told.split(/^(?:look at it|end it)$/m);
    const folder = /^ {2}cd (\S+)$/m.exec(start)?.[1] ?? "";
    onTestFinished(() => {
      if (folder === "" || !existsSync(folder)) return;
      typed(`${start}\ngraphform platform down`);
      rmSync(folder, { recursive: true });
    });
    expect({ status, isThere: existsSync(join(folder, "graphform.yaml")) }, stderr).toEqual({
      status: 0,
      isThere: true,
    });
    expect(statSync(join(folder, "password")).mode & 0o777).toBe(0o600);
    expect(typed(`${start}\n${look}\ngraphform plan --detailed-exitcode`)).toMatchObject({ status: 0 });
    expect(typed(`${start}\n${end}`)).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("is down"),
    });
    expect(existsSync(folder)).toBe(false);
  });

  it("refuses other options", () => {
    const stderr = "demo: the only option is --keep (npm run demo -- --keep)\n";
    expect(demo("--kep")).toEqual({ status: 1, stdout: "", stderr });
  });
});
