/** @module Reports whether a local platform runs on a data folder. */
import { wrapLines } from "../../report/text-width.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { engineText, runningPlatform } from "./announcement.ts";

/** `platform status`: prints whether a platform runs, and its URL. Exit 0 if it runs, otherwise 1. */
export async function platformStatus(dataDir: string, json: boolean, terminal: Terminal): Promise<number> {
  const found = await runningPlatform(dataDir);
  if (json) {
    const { url, usersUrl, engine, pid } = found ?? {};
    const where = found === undefined ? {} : { url, usersUrl, engine, pid };
    terminal.out(`${JSON.stringify({ running: found !== undefined, dataDir, ...where })}\n`);
  } else if (found === undefined)
    terminal.out("not running; start it with `graphform platform up --detach`\n");
  else {
    const text = `running at ${found.url} (pid ${found.pid})\n${engineText(found.engine)}`;
    terminal.out(wrapLines(text, terminal.columns));
  }
  return found === undefined ? 1 : 0;
}
