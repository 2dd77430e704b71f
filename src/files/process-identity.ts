/** @module Identifies processes of this machine, also after their pid is used again. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { isFileError } from "./file-trouble.ts";

/** A process, identified so that another one can check that it still runs. */
export interface ProcessIdentity {
  /** `user@host`. */
  readonly who: string;
  readonly host: string;
  readonly pid: number;
  /** Equal for processes that see each other: host, and on Linux this boot of it and the space of its pids. */
  readonly machine: string;
  /** When it started, in clock ticks since boot; distinguishes it from a later process of the same pid. Empty if unknown. */
  readonly started: string;
}

/** A process of this machine; `started` distinguishes it from a later one of the same pid. */
export type PinnedProcess = Pick<ProcessIdentity, "pid" | "started">;

export function thisProcess(): ProcessIdentity {
  const host = hostname();
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(), "");
  const space = attempt(() => readlinkSync("/proc/self/ns/pid"), "");
  const user = attempt(() => userInfo().username, "") || String(process.getuid?.() ?? "unknown");
  const machine = [host, boot, space].filter((part) => part !== "").join(" ");
  return { who: `${user}@${host}`, host, pid: process.pid, machine, started: pinned(process.pid).started };
}

export function pinned(pid: number): PinnedProcess {
  return { pid, started: lookUp(pid).started };
}

/** True while that process of this machine runs; one that was killed and not yet collected runs no longer. */
export function isRunning({ pid, started }: PinnedProcess): boolean {
  if (!exists(pid)) return false;
  const found = lookUp(pid);
  // The process has ended a moment ago, or this system has no such files.
  if (found.state === "") return exists(pid);
  if (found.state === "Z" || found.state === "X") return false;
  return started === "" || found.started === "" || found.started === started;
}

/** True while that process is halted, as by SIGSTOP or a debugger. */
export function isHalted(process: PinnedProcess): boolean {
  const { state, started } = lookUp(process.pid);
  return started === process.started && (state === "T" || state === "t");
}

/** Processor time that a process has used, in ms; undefined if it runs no longer. */
export function processorTime(process: PinnedProcess): number | undefined {
  const { started, ticks } = lookUp(process.pid);
  // The kernel reports hundredths of a second to programs, at any clock rate of its own.
  return started === process.started && started !== "" ? ticks * 10 : undefined;
}

/** Sends a signal to that very process, and to no later one of its pid; one that runs no longer gets none. */
export function signalTo(target: PinnedProcess, signal: NodeJS.Signals): void {
  if (target.started === "" || lookUp(target.pid).started !== target.started) return;
  try {
    process.kill(target.pid, signal);
  } catch (error) {
    if (!isFileError(error, "ESRCH")) throw error;
  }
}

/** Resolves with true once the process runs no longer, with false when `ms` have passed. */
export async function hasEndedWithin(target: PinnedProcess, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (isRunning(target)) {
    if (performance.now() > end) return false;
    await sleep(5);
  }
  return true;
}

/** Process ids of this machine, in no order. If the system has no list of them, none. */
export function allPids(): readonly number[] {
  return attempt(() => readdirSync("/proc"), []).flatMap((name) =>
    /^[0-9]+$/.test(name) ? [Number(name)] : [],
  );
}

export interface SeenProcess {
  /** Its arguments, its program first. */
  readonly words: readonly string[];
  readonly folder: string;
  readonly isFolderRemoved: boolean;
  readonly parent: number;
}

export function lookInto(pid: number): SeenProcess | undefined {
  const line = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"), "");
  const shown = attempt(() => readlinkSync(`/proc/${pid}/cwd`), "");
  if (line === "" || shown === "") return undefined;
  const folder = shown.replace(/ \(deleted\)$/, "");
  const { parent } = lookUp(pid);
  return { words: line.replace(/\0$/, "").split("\0"), folder, isFolderRemoved: folder !== shown, parent };
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isFileError(error, "EPERM");
  }
}

/** Fields 3, 4, 14 + 15 and 22 of `/proc/<pid>/stat`; they follow the last parenthesis, since a name may hold any text. */
function lookUp(pid: number): { state: string; parent: number; ticks: number; started: string } {
  const line = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"), "");
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  return { state: fields[0] ?? "", parent: Number(fields[1] ?? 0), ticks, started: fields[19] ?? "" };
}

function attempt<Seen>(look: () => Seen, otherwise: Seen): Seen {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
