import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserCommand, platformOpen } from "../../src/commands/platform/manage.ts";
import type { Terminal } from "../../src/commands/terminal/terminal.ts";
import { settingsOf } from "../../src/project/settings.ts";
import { platformProgram, poll } from "../platform/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder = "";
let dataDir = "";
let child: ChildProcess;
beforeAll(async () => {
  folder = temporaryFolder("open");
  dataDir = join(folder, "data");
  child = spawn(process.execPath, [platformProgram, "--data-dir", dataDir, "--engine", "none"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(createInterface({ input: child.stdout ?? process.stdin }), "line");
});
afterAll(async () => {
  child.kill("SIGTERM");
  await once(child, "close");
});

function terminal(interactive: boolean): Terminal & { readonly said: { out: string; err: string } } {
  const said = { out: "", err: "" };
  return {
    said,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    interactive,
    colour: false,
    width: 100,
    confirm: async () => false,
  };
}

/** A browser that writes down what it was called with. */
async function browser(): Promise<{ readonly path: string; readonly called: () => Promise<string> }> {
  const path = join(folder, "browser");
  const heard = join(folder, "heard");
  await rm(heard, { force: true });
  await writeFile(path, `#!/bin/sh\necho "$@" > "${heard}.part" && mv "${heard}.part" "${heard}"\n`, {
    mode: 0o755,
  });
  const called = () => poll(() => readFile(heard, "utf8").catch(() => undefined), "the browser");
  return { path, called };
}

const cookiesOf = async (link: string): Promise<number> =>
  (await fetch(link, { redirect: "manual" })).headers.getSetCookie().length;

describe("platform open", () => {
  it("opens the page for a person: by a private file, with a key that is not the printed one", async () => {
    const { path, called } = await browser();
    const said = terminal(true);
    expect(
      await platformOpen({
        options: { dataDir, browser: true },
        settings: settingsOf({ BROWSER: path }),
        terminal: said,
      }),
    ).toBe(0);
    const address = (await called()).trim();
    expect(address).toMatch(/^file:.*open\.html$/);
    const file = fileURLToPath(address);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const [, inFile = ""] = /content="0;url=([^"]+)"/.exec(await readFile(file, "utf8")) ?? [];
    expect(inFile).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?key=/);
    expect(said.said.out.trim()).not.toBe(inFile);
    expect([await cookiesOf(inFile), await cookiesOf(said.said.out.trim())]).toEqual([1, 1]);
    expect(await cookiesOf(inFile)).toBe(0);
  });

  it.each([
    ["nobody looks", false, true],
    ["no browser is wanted", true, false],
  ])("prints the link alone where %s", async (_why, interactive, wanted) => {
    await rm(join(dataDir, "open.html"), { force: true });
    const { path } = await browser();
    const said = terminal(interactive);
    expect(
      await platformOpen({
        options: { dataDir, browser: wanted },
        settings: settingsOf({ BROWSER: path }),
        terminal: said,
      }),
    ).toBe(0);
    expect(await cookiesOf(said.said.out.trim())).toBe(1);
    await expect(stat(join(dataDir, "open.html"))).rejects.toThrow("ENOENT");
  });

  it("says so where the browser does not start; the printed link is good", async () => {
    const said = terminal(true);
    expect(
      await platformOpen({
        options: { dataDir, browser: true },
        settings: settingsOf({ BROWSER: join(folder, "none") }),
        terminal: said,
      }),
    ).toBe(0);
    expect(said.said.err).toContain("no browser was opened");
    expect(await cookiesOf(said.said.out.trim())).toBe(1);
  });

  it("takes the desktop's own browser where there is a desktop", async () => {
    const bin = join(folder, "bin");
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, "xdg-open"), "");
    const path = `/nowhere:${bin}`;
    expect(browserCommand(settingsOf({ PATH: path, DISPLAY: ":0" }), "linux")).toBe("xdg-open");
    expect(browserCommand(settingsOf({ PATH: path, WAYLAND_DISPLAY: "w" }), "linux")).toBe("xdg-open");
    expect(browserCommand(settingsOf({ PATH: path }), "linux")).toBeUndefined();
    expect(browserCommand(settingsOf({ PATH: "/nowhere", DISPLAY: ":0" }), "linux")).toBeUndefined();
    expect(browserCommand(settingsOf({}), "darwin")).toBe("open");
    expect(browserCommand(settingsOf({ BROWSER: "lynx:w3m", DISPLAY: ":0" }), "linux")).toBe("lynx");
  });
});
