/** @module Copies a snapshot to another region. */
import { requestBackup, type WantedBackup } from "../../apply/engine/request-backup.ts";
import {
  asBackup,
  listSnapshots,
  type Snapshot,
  showsSnapshotTimes,
  snapshotParams,
} from "../../kinds/instance-history.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import type { Backup } from "../../model/kind.ts";
import type { Service } from "../../model/service.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import { jsonText } from "../../report/json-text.ts";
import type { ManifestOptions } from "../options.ts";
import { serviceTarget } from "../service-target.ts";
import { withServiceOf } from "../service-work.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { completeSnapshot, snapshotJson } from "./list.ts";

/** Options of `snapshot copy`. */
export interface SnapshotCopyOptions extends ManifestOptions {
  readonly region: string;
  /** False: done as soon as the service has accepted it. */
  readonly wait?: boolean;
  readonly json?: boolean;
}

/**
 * `snapshot copy ID --region R`: copies a snapshot and waits until the copy is complete. Throws `copy-failed`, and
 * `backup-unclear` if nothing proves which new snapshot is the copy.
 */
export async function snapshotCopy(
  id: string,
  options: SnapshotCopyOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const target = await serviceTarget(options, settings);
  return withServiceOf(target, options, settings, terminal, async ({ service, signal, clock }) => {
    const source = await completeSnapshot(service, id, "copied", signal);
    const ended = await requestBackup(copyOf(source, options, service, signal), {
      clock,
      profile: service.profile,
      stopping: signal,
      aborting: signal,
      hide: service.hide,
    });
    terminal.err(`${escapeText(id, 100)}: copying to ${escapeText(options.region, 100)}...\n`);
    if (options.wait === false) {
      terminal.out(
        options.json === true
          ? `${jsonText({ source: id, region: options.region, accepted: true })}\n`
          : "Copy accepted.\n",
      );
      return exitCodes.done;
    }
    const { is, item } = await ended();
    if (is === "late") {
      terminal.err("the copy is not complete yet; graphform snapshot list shows its progress\n");
      return exitCodes.converging;
    }
    const { snapshot: copy } = item;
    if (options.json === true) terminal.out(`${jsonText(snapshotJson(copy))}\n`);
    if (is === "failed") {
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

/** The copy as a backup to ask for: a snapshot of the same instance in the wanted region. */
function copyOf(
  source: Snapshot,
  { region, timeout }: SnapshotCopyOptions,
  service: Service,
  signal: AbortSignal,
): WantedBackup<Backup & { readonly snapshot: Snapshot }> {
  const operation = "snapshot.copy";
  return {
    what: `copy of ${source.id}`,
    send: async () => {
      const call = { operation, params: snapshotParams(source), body: { targetRegion: region } };
      const { values } = await service.write(call, signal);
      return typeof values["id"] === "string" ? values["id"] : undefined;
    },
    list: async () =>
      (await listSnapshots(service, {}, signal))
        .filter((snapshot) => snapshot.instanceId === source.instanceId && snapshot.region === region)
        .map((snapshot) => ({ ...asBackup(snapshot), isAutomatic: false, snapshot })),
    showsTimes: showsSnapshotTimes(service),
    date: () => service.date(operation),
    timeout: timeout ?? service.profile.timing.timeout["copy-snapshot"] ?? 40 * 60_000,
  };
}
