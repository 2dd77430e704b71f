/** @module Copies a snapshot to another region. */
import { changeWrite } from "../../apply/engine/change-write.ts";
import { submit } from "../../apply/engine/submit.ts";
import type { Attempts, Evidence } from "../../apply/evidence/unconfirmed-write.ts";
import {
  listSnapshots,
  type Snapshot,
  snapshotParams,
  snapshotPhase,
} from "../../kinds/instance-snapshots.ts";
import { systemClock } from "../../model/clock.ts";
import { gracePeriod } from "../../model/consistency.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { poll } from "../../polling/poll.ts";
import type { Settings } from "../../project/settings.ts";
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
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const target = await serviceTarget(options, settings, terminal);
  return withServiceOf(target, options, settings, terminal, async (work) => {
    const { service, signal } = work;
    const source = await completeSnapshot(service, id, "copied", signal);
    const before = new Set((await listSnapshots(service, {}, signal)).map((snapshot) => snapshot.id));
    await submitCopy(source, before, options, work);
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

/** Asks for the copy. An answer that is lost is not asked for again before lists would show the copy. */
async function submitCopy(
  source: Snapshot,
  before: ReadonlySet<string>,
  options: SnapshotCopyOptions,
  { service, signal }: Pick<ServiceWork, "service" | "signal">,
): Promise<void> {
  const { profile } = service;
  const context = { clock: systemClock, profile, stopping: signal, aborting: signal };
  const call = {
    operation: "snapshot.copy",
    params: snapshotParams(source),
    body: { targetRegion: options.region },
  };
  const evaluate = (listed: readonly Snapshot[], { mayHaveWorked, endedAt }: Attempts): Evidence => {
    if (!mayHaveWorked) return { is: "repeat" };
    if (copyIn(listed, source, before, options) !== undefined) return { is: "accepted", value: undefined };
    const isHidden = gracePeriod(endedAt, systemClock.now(), profile.timing) !== "over";
    return { is: isHidden ? "wait" : "repeat" };
  };
  const request = {
    what: `copy of ${source.id}`,
    send: async () => void (await service.write(call, signal)),
    look: () => listSnapshots(service, {}, signal),
    evaluate,
    timeout: timeoutOf(options, profile),
  };
  await submit(changeWrite(request, context), context);
}

/** The snapshot of the same instance in the wanted region that was not listed before. */
function copyIn(
  listed: readonly Snapshot[],
  source: Snapshot,
  before: ReadonlySet<string>,
  { region }: SnapshotCopyOptions,
): Snapshot | undefined {
  return listed.find(
    (snapshot) =>
      !before.has(snapshot.id) && snapshot.instanceId === source.instanceId && snapshot.region === region,
  );
}

function timeoutOf({ timeout }: SnapshotCopyOptions, { timing }: ServiceWork["service"]["profile"]): number {
  return timeout ?? timing.timeout["copy-snapshot"] ?? 40 * 60_000;
}

/** Polls until the copy is complete or failed, or the timeout ends; returns the copy as last seen. */
async function waitForCopy(
  source: Snapshot,
  before: ReadonlySet<string>,
  options: SnapshotCopyOptions,
  { service, signal }: Pick<ServiceWork, "service" | "signal">,
): Promise<Snapshot | undefined> {
  const { profile } = service;
  const deadline = systemClock.now() + timeoutOf(options, profile);
  let copy: Snapshot | undefined;
  const look = (): Promise<readonly Snapshot[]> => listSnapshots(service, {}, signal);
  const evaluate = (listed: readonly Snapshot[]): Snapshot | undefined => {
    copy = copyIn(listed, source, before, options);
    return copy !== undefined && snapshotPhase(copy.status) !== "pending" ? copy : undefined;
  };
  await poll({ look, evaluate, deadline }, { clock: systemClock, profile, stopping: signal });
  return copy;
}
