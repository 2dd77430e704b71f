/** @module Copies a snapshot to another region. */
import { poll } from "../../apply/engine/poll.ts";
import {
  listSnapshots,
  type Snapshot,
  snapshotParams,
  snapshotPhase,
} from "../../kinds/instance-snapshots.ts";
import { systemClock } from "../../model/clock.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { escapeText } from "../../report/escape.ts";
import { jsonText } from "../../report/json-text.ts";
import type { ManifestOptions } from "../options.ts";
import { serviceTarget } from "../service-target.ts";
import { type ServiceWork, withServiceOf } from "../service-work.ts";
import type { Terminal } from "../terminal.ts";
import { completeSnapshot, snapshotJson } from "./snapshot.ts";

/** Options of `snapshot copy`. */
export interface SnapshotCopyOptions extends ManifestOptions {
  readonly region: string;
  /** False: done as soon as the service has accepted it. */
  readonly wait?: boolean;
  readonly json?: boolean;
}

/**
 * `snapshot copy ID --region R`: copies a snapshot and waits until the copy is complete. The answer does not name the copy, so
 * it is the snapshot of the same instance in that region that the list did not show before. Throws `copy-failed`.
 */
export async function snapshotCopy(
  id: string,
  options: SnapshotCopyOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const target = await serviceTarget(options, env, terminal);
  return withServiceOf(target, options, env, terminal, async (work) => {
    const { service, signal } = work;
    const source = await completeSnapshot(service, id, "copied", signal);
    const before = new Set((await listSnapshots(service, {}, signal)).map((snapshot) => snapshot.id));
    const copyCall = {
      operation: "snapshot.copy",
      params: snapshotParams(source),
      body: { targetRegion: options.region },
    };
    await service.write(copyCall, signal);
    terminal.err(`${escapeText(id, 100)}: copying to ${escapeText(options.region, 100)}...\n`);
    if (options.wait === false) {
      terminal.out(
        options.json === true
          ? `${jsonText({ source: id, region: options.region, accepted: true })}\n`
          : "Copy accepted.\n",
      );
      return exitCodes.done;
    }
    const copy = await waitForCopy(source, before, options, work);
    if (copy === undefined || snapshotPhase(copy.status) === "pending") {
      terminal.err("the copy is not complete yet; graphform snapshot list shows its progress\n");
      return exitCodes.converging;
    }
    if (options.json === true) terminal.out(`${jsonText(snapshotJson(copy))}\n`);
    if (snapshotPhase(copy.status) === "failed") {
      throw new GraphformError(
        "copy-failed",
        `the copy of ${id} to ${options.region} failed (${copy.id}: ${copy.status})`,
      );
    }
    if (options.json !== true)
      terminal.out(
        `${escapeText(copy.id, 100)} is a complete copy of ${escapeText(id, 100)} in ${escapeText(options.region, 100)}.\n`,
      );
    return exitCodes.done;
  });
}

/** Polls until the copy is complete or failed, or the timeout ends; returns the copy as last seen. */
async function waitForCopy(
  source: Snapshot,
  before: ReadonlySet<string>,
  options: SnapshotCopyOptions,
  { service, signal }: Pick<ServiceWork, "service" | "signal">,
): Promise<Snapshot | undefined> {
  const { profile } = service;
  const deadline =
    systemClock.now() + (options.timeout ?? profile.timing.timeout["copy-snapshot"] ?? 40 * 60_000);
  let copy: Snapshot | undefined;
  const look = (): Promise<readonly Snapshot[]> => listSnapshots(service, {}, signal);
  const evaluate = (listed: readonly Snapshot[]): Snapshot | undefined => {
    copy = listed.find(
      (snapshot) =>
        !before.has(snapshot.id) &&
        snapshot.instanceId === source.instanceId &&
        snapshot.region === options.region,
    );
    return copy !== undefined && snapshotPhase(copy.status) !== "pending" ? copy : undefined;
  };
  await poll({ look, evaluate, deadline }, { clock: systemClock, profile, stopping: signal });
  return copy;
}
