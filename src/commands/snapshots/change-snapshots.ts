/** @module Lists the snapshots of a service, copies one to another region, restores one as a new instance, and deletes one. */
import { requestBackup, type WantedBackup } from "../../apply/engine/request-backup.ts";
import { type ChangeContext, submitChange } from "../../apply/engine/submit.ts";
import {
  asBackup,
  describeSnapshot,
  listSnapshots,
  type Snapshot,
  showsSnapshotTimes,
  snapshotParams,
  snapshotPhase,
  statusText,
} from "../../kinds/instance-history.ts";
import { unlessMissing } from "../../kinds/resource.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { defined, type JsonObject, textIn } from "../../model/json.ts";
import type { Backup } from "../../model/kind.ts";
import type { Reads } from "../../model/service.ts";
import { poll } from "../../polling/poll.ts";
import { escapeText, jsonText } from "../../report/typeset.ts";
import { printRestore, requestRestore } from "../instances/restore.ts";
import { tableText } from "../terminal/table-text.ts";
import {
  type Invocation,
  type InvocationWith,
  type ManifestOptions,
  type OpenService,
  withService,
} from "../with-run.ts";

interface CopyOptions extends ManifestOptions {
  readonly region: string;
  /** False: done as soon as the service has accepted it. */
  readonly wait?: boolean;
}

/** `snapshot copy ID --region R`: copies a snapshot and waits for it. Throws `copy-failed`, or `backup-unclear` if it cannot be told. */
export async function snapshotCopy(invocation: Invocation<CopyOptions>, id: string): Promise<number> {
  const { options, terminal } = invocation;
  const { region, wait = true, json = false } = options;
  return withService(invocation, async (open) => {
    const snapshot = await completeSnapshot(open, id, "copied");
    const ended = await requestBackup(copyOf(snapshot, options, open), waiting(open));
    terminal.err(`${escapeText(id, 100)}: copying to ${escapeText(region, 100)}...\n`);
    if (!wait) {
      const accepted = json ? jsonText({ source: id, region, accepted: true }) : "Copy accepted.";
      terminal.out(`${accepted}\n`);
      return exitCodes.done;
    }
    const { is, item } = await ended();
    if (is === "late") {
      terminal.err("the copy is not complete yet; graphform snapshot list shows its progress\n");
      return exitCodes.converging;
    }
    const { snapshot: copy } = item;
    if (json) terminal.out(`${jsonText(snapshotJson(copy))}\n`);
    const failure = `the copy of ${id} to ${region} failed (${copy.id}: ${copy.status})`;
    if (is === "failed") throw new GraphformError("copy-failed", failure);
    const [made, source] = [copy.id, id].map((one) => escapeText(one, 100));
    if (!json) terminal.out(`${made} is a complete copy of ${source} in ${escapeText(region, 100)}.\n`);
    return exitCodes.done;
  });
}

/** The copy as a backup to ask for: a snapshot of the same instance in the wanted region. */
function copyOf(
  source: Snapshot,
  { region, timeout }: CopyOptions,
  { service, signal }: OpenService,
): WantedBackup<Backup & { readonly snapshot: Snapshot }> {
  const operation = "snapshot.copy";
  return {
    what: `copy of ${source.id}`,
    send: async () => {
      const call = { operation, params: snapshotParams(source), body: { targetRegion: region } };
      const { values } = await service.write(call, signal);
      return textIn(values["id"]);
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

/** `snapshot restore ID`: creates a new instance. Sends the request once: after a lost answer a second one would make a second database. */
export async function snapshotRestore(
  invocation: InvocationWith<{ readonly networkType?: string; readonly network?: string }>,
  id: string,
): Promise<number> {
  const { networkType, network, json = false } = invocation.options;
  return withService(invocation, async (open) => {
    const source = await completeSnapshot(open, id, "restored");
    const body = defined({ networkType, network });
    const call = { operation: "snapshot.restore", params: snapshotParams(source), body };
    const instance = await requestRestore(open.service, call, id, open.signal);
    printRestore(id, instance, json, invocation.terminal);
    return exitCodes.done;
  });
}

/** `snapshot delete ID`: asks for confirmation, deletes the snapshot and waits until it is gone. Throws `not-approved`. */
export async function snapshotDelete(
  invocation: InvocationWith<{ readonly autoApprove?: boolean }>,
  id: string,
): Promise<number> {
  const { options, terminal } = invocation;
  const unasked = "no terminal to ask on: a deleted snapshot cannot be recovered";
  const hint = "graphform snapshot delete ID --auto-approve";
  if (options.autoApprove !== true && !terminal.interactive)
    throw new GraphformError("not-approved", unasked, { hint });
  return withService(invocation, async (open) => {
    const { service, signal, clock } = open;
    const shown = escapeText(id, 100);
    const found = await snapshotAt(service, id, signal);
    const question = `Delete the snapshot ${shown} of ${escapeText(found.instanceId ?? "an unknown instance", 100)}, made ${escapeText(found.createdAt ?? "at an unknown time", 100)}? Only "yes" is accepted: `;
    if (options.autoApprove !== true && !(await terminal.confirm(question, signal))) {
      terminal.err("Nothing was changed.\n");
      return exitCodes.error;
    }
    const timeout = options.timeout ?? service.profile.timing.timeout["delete"] ?? 600_000;
    const look = (): Promise<Snapshot | undefined> =>
      unlessMissing(() => describeSnapshot(service, id, signal));
    const deletion = {
      what: `deletion of ${id}`,
      send: () => service.write({ operation: "snapshot.delete", params: snapshotParams(found) }, signal),
      look,
      evaluate: (seen: Snapshot | undefined) =>
        seen === undefined
          ? ({ is: "accepted", value: { values: {} } } as const)
          : ({ is: "repeat" } as const),
      timeout,
    };
    await submitChange(deletion, waiting(open));
    const deadline = clock.now() + timeout;
    const isGone = (seen: Snapshot | undefined): true | undefined => (seen === undefined ? true : undefined);
    const gone = await poll({ look, evaluate: isGone, deadline }, waiting(open));
    if (gone === undefined) {
      terminal.err(`${shown} is still being deleted; see graphform snapshot list\n`);
      return exitCodes.converging;
    }
    terminal.out(`${shown} is deleted.\n`);
    return exitCodes.done;
  });
}

function waiting({ service, clock, signal }: OpenService): ChangeContext {
  return { clock, profile: service.profile, stopping: signal, aborting: signal, hide: service.hide };
}

/** Reads a complete snapshot; `toDo` is for the message. Throws `snapshot-unknown`, `snapshot-unfinished`. */
async function completeSnapshot(
  { service, signal }: OpenService,
  id: string,
  toDo: string,
): Promise<Snapshot> {
  const source = await snapshotAt(service, id, signal);
  if (snapshotPhase(source) === "done") return source;
  const message = `snapshot ${id} is ${statusText(source)}, and only a complete one can be ${toDo}`;
  const hint = "graphform snapshot list shows its progress";
  throw new GraphformError("snapshot-unfinished", message, { hint });
}

const wireTypes = { manual: "ManualSnapshot", automated: "AutomatedSnapshot" } as const;

/** `snapshot list`: prints the snapshots of the service, newest first. */
export async function snapshotList(
  invocation: InvocationWith<{ readonly type?: "manual" | "automated"; readonly environment?: string }>,
): Promise<number> {
  const { options, terminal } = invocation;
  const { type, environment, json = false } = options;
  return withService(invocation, async ({ service, signal }) => {
    const filter = defined({ type: type && wireTypes[type], environment });
    const snapshots = await listSnapshots(service, filter, signal);
    if (json) terminal.out(`${jsonText(snapshots.map(snapshotJson))}\n`);
    else if (snapshots.length === 0) terminal.out("No snapshots.\n");
    else {
      const heading = ["snapshot", "instance", "type", "status", "region", "created", "completed"];
      terminal.out(tableText(heading, snapshots.map(rowOf), terminal));
    }
    return exitCodes.done;
  });
}

function rowOf(snapshot: Snapshot): readonly string[] {
  const { id, type, cloudProvider } = snapshot;
  const { instanceId = "-", region = "-", createdAt = "-", completedAt = "-" } = snapshot;
  const kind = type?.replace(/Snapshot$/, "").toLowerCase() ?? "-";
  const place = cloudProvider === undefined ? region : `${cloudProvider}/${region}`;
  return [id, instanceId, kind, statusText(snapshot), place, createdAt, completedAt];
}

/** A snapshot as JSON, without undefined fields. */
function snapshotJson({ subscriptionId: _, ...known }: Snapshot): JsonObject {
  return defined(known);
}

/** Reads a snapshot. Throws `snapshot-unknown`. */
async function snapshotAt(service: Reads, id: string, signal: AbortSignal): Promise<Snapshot> {
  const found = await unlessMissing(() => describeSnapshot(service, id, signal));
  if (found !== undefined) return found;
  throw new GraphformError("snapshot-unknown", `there is no snapshot ${id}`, {
    hint: "graphform snapshot list shows all snapshots",
  });
}
