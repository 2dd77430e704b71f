import { readFileSync, readlinkSync } from "node:fs";
import { hostname, userInfo } from "node:os";

/** A process, named so that another one can tell whether it still runs. */
export interface ProcessIdentity {
  /** `user@host`. */
  readonly who: string;
  readonly host: string;
  readonly pid: number;
  /** Equal for processes that see each other: host, and on Linux this boot of it and the space of its pids. */
  readonly machine: string;
  /** When it started, in the system's own count; tells it from a later process of the same pid. Empty where unknown. */
  readonly started: string;
}

/** The identity of this process. */
export function thisProcess(): ProcessIdentity {
  const host = hostname();
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const space = attempt(() => readlinkSync("/proc/self/ns/pid"));
  const user = attempt(() => userInfo().username) || String(process.getuid?.() ?? "unknown");
  const machine = [host, boot, space].filter((part) => part !== "").join(" ");
  return { who: `${user}@${host}`, host, pid: process.pid, machine, started: lookUp(process.pid).started };
}

/** True while that process of this machine runs; one that was killed and not yet collected runs no longer. */
export function isRunning({ pid, started }: Pick<ProcessIdentity, "pid" | "started">): boolean {
  if (!exists(pid)) return false;
  const found = lookUp(pid);
  // Nothing to be read: it was collected a moment ago, or this system has no such files.
  if (found.state === "") return exists(pid);
  if (found.state === "Z" || found.state === "X") return false;
  return started === "" || found.started === "" || found.started === started;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Fields 3 and 22 of `/proc/<pid>/stat`; what follows the last parenthesis, since a program's name may hold any text. */
function lookUp(pid: number): { readonly state: string; readonly started: string } {
  const line = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", started: fields[19] ?? "" };
}

function attempt(look: () => string): string {
  try {
    return look();
  } catch {
    return "";
  }
}
