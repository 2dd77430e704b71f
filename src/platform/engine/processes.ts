import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Process ids, parents before their children, of all whose argv names a path that starts so. Asks the system, not pid files. */
export function processesOver(path: string): readonly number[] {
  // Reading a process's argv takes microseconds; handing it to a thread would take many times as long.
  const pids = readdirSync("/proc").flatMap((name) =>
    /^[0-9]+$/.test(name) && isOver(name, path) ? [Number(name)] : [],
  );
  const hasParent = (pid: number): number => (pids.includes(parentOf(pid)) ? 1 : 0);
  return pids.sort((a, b) => hasParent(a) - hasParent(b));
}

function isOver(pid: string, path: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
      .split("\0")
      .some((word) => word.startsWith(path));
  } catch {
    return false;
  }
}

/** True while the process lives and its argv names the path; false for a later process with the same id. */
export function runsOver(pid: number, path: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(path);
  } catch {
    return false;
  }
}

/** Sends a signal; a process that is gone is none of its business. */
function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Resolves with true once the process is gone, with false when `ms` have passed. */
export async function isGoneWithin(pid: number, path: string, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (runsOver(pid, path)) {
    if (performance.now() > end) return false;
    await sleep(5);
  }
  return true;
}

/** Ends every process over the path, gently or at once, and resolves when none is left. */
export async function endAll(path: string, grace: number): Promise<void> {
  const pids = processesOver(path);
  if (grace > 0) for (const pid of pids) signalTo(pid, "SIGTERM");
  await Promise.all(
    pids.map(async (pid) => {
      if (grace > 0 && (await isGoneWithin(pid, path, grace))) return;
      if (runsOver(pid, path)) signalTo(pid, "SIGKILL");
      if (!(await isGoneWithin(pid, path, 10_000)))
        throw new Error(`process ${pid} over ${path} does not end`);
    }),
  );
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}
