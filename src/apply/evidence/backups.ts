/** @module Decides which listed backup is the one that was asked for. Pure. */
import type { Backup } from "../../model/kind.ts";

/**
 * The backups that can have been made after `known` was listed: not in it, and not older by the service's own clock than
 * the newest of it.
 */
export function newBackups(listed: readonly Backup[], known: readonly Backup[]): readonly Backup[] {
  const before = new Set(known.map(({ id }) => id));
  const newest = Math.max(...known.map(timeOf).filter((time) => !Number.isNaN(time)));
  return listed.filter((backup) => {
    if (before.has(backup.id) || backup.isAutomatic) return false;
    const time = timeOf(backup);
    return Number.isNaN(time) || time >= newest;
  });
}

/** The outcome of the backup that was asked for. */
export interface BackupOutcome {
  readonly is: "completed" | "failed" | "pending";
  /** The backup in question; undefined where none is listed. */
  readonly backup: Backup | undefined;
}

/**
 * Decides the outcome of the backup that was asked for after `known` was listed. Call it once absence is conclusive for that
 * backup: the newest one listed is then that backup or a later one. Where the service shows no times, all new backups have
 * to be complete.
 */
export function backupOutcome(listed: readonly Backup[], known: readonly Backup[]): BackupOutcome {
  const made = newBackups(listed, known);
  const newest = Math.max(...made.map(timeOf));
  const last = Number.isNaN(newest) ? made : made.filter((backup) => timeOf(backup) === newest);
  const unfinished = last.find(({ is }) => is === "pending") ?? last.find(({ is }) => is === "failed");
  const backup = unfinished ?? last[0];
  return { is: backup?.is ?? "pending", backup };
}

function timeOf({ createdAt }: Backup): number {
  return Date.parse(createdAt ?? "");
}
