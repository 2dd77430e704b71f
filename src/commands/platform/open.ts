/** @module Opens the page of the local platform in a browser, signed in. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { GraphformError } from "../../model/errors.ts";
import { isObject } from "../../model/json.ts";
import { findLocalPlatform, type LocalPlatform } from "../../project/local-platform.ts";
import type { Settings } from "../../project/settings.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Invocation } from "../with-run.ts";
import type { PlatformOptions } from "./announcement.ts";

/** Options of `platform open`. */
export interface PlatformOpenOptions extends PlatformOptions {
  /** False: print the link and open nothing. */
  readonly browser: boolean;
}

/**
 * Prints a link that signs in to the page once, within a minute, and opens the page if a person and a browser are present. The
 * browser gets a second link in a private file: other users could read a link in its command line. Throws `no-platform`.
 */
export async function platformOpen(invocation: Invocation<PlatformOpenOptions>): Promise<number> {
  const { options, settings, terminal } = invocation;
  const { dataDir, browser } = options;
  const platform = await findLocalPlatform(dataDir);
  if (platform?.isRunning !== true) {
    throw new GraphformError("no-platform", `no local platform is running in ${dataDir}`, {
      hint: "start it with `graphform platform up --detach`",
    });
  }
  const { url, lifetime } = await newLink(platform);
  terminal.out(`${url}\n`);
  terminal.err(`the link signs in once, within ${lifetime} seconds\n`);
  const command = browser && terminal.interactive ? browserCommand(settings, process.platform) : undefined;
  if (command === undefined) return 0;
  await openFile(command, resolve(dataDir, "open.html"), (await newLink(platform)).url, terminal);
  return 0;
}

async function newLink(
  platform: LocalPlatform,
): Promise<{ readonly url: string; readonly lifetime: number }> {
  const credentials = Buffer.from(`${platform.username}:${platform.password}`).toString("base64");
  const answer = await fetch(new URL("/_platform/page-links", platform.url), {
    method: "POST",
    headers: { authorization: `Basic ${credentials}` },
    signal: AbortSignal.timeout(10_000),
  }).then(
    async (response): Promise<unknown> => (response.ok ? response.json() : response.status),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const { url, lifetime } = isObject(answer) ? answer : {};
  if (typeof url === "string" && typeof lifetime === "number") return { url, lifetime };
  throw new GraphformError(
    "platform-answer",
    `the local platform at ${platform.url} did not return a link: ${String(answer)}`,
    { hint: "stop it with `graphform platform down` and start it again" },
  );
}

/** The command that opens a page: `BROWSER`, or that of the desktop; undefined if there is none. */
export function browserCommand(settings: Settings, system: NodeJS.Platform): string | undefined {
  const [chosen = ""] = (settings.get("browser") ?? "").split(delimiter);
  if (chosen !== "") return chosen;
  if (system === "darwin") return "open";
  if ((settings.get("display") ?? settings.get("waylandDisplay")) === undefined) return undefined;
  const folders = (settings.get("path") ?? "").split(delimiter);
  return folders.some((folder) => existsSync(join(folder, "xdg-open"))) ? "xdg-open" : undefined;
}

/** Opens a file that only this user can read and that redirects the browser to the link. */
async function openFile(command: string, file: string, url: string, terminal: Terminal): Promise<void> {
  await rm(file, { force: true });
  const page = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">\n<meta http-equiv="refresh" content="0;url=${url}">\n`;
  await writeFile(file, page, { mode: 0o600, flag: "wx" });
  const child = spawn(command, [pathToFileURL(file).href], { stdio: "ignore", detached: true });
  child.once("error", (error) => terminal.err(`no browser was opened: ${error.message}\n`));
  await new Promise((resolve) => child.once("spawn", resolve).once("error", resolve));
  child.unref();
}
