/** @module Deletes a snapshot. */

import { changeWrite } from "../../apply/engine/change-write.ts";
import { submit } from "../../apply/engine/submit.ts";
import { describeSnapshot, type Snapshot, snapshotParams } from "../../kinds/instance-history.ts";
import { exitCodes, GraphformError, isServiceError } from "../../model/errors.ts";
import { poll } from "../../polling/poll.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import type { ManifestOptions } from "../options.ts";
import { serviceTarget } from "../service-target.ts";
import { withServiceOf } from "../service-work.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { unknownSnapshot } from "./list.ts";

/** Options of `snapshot delete`. */
export interface SnapshotDeleteOptions extends ManifestOptions {
  /** True: deletes without a question. */
  readonly autoApprove?: boolean;
}

/** `snapshot delete ID`: asks for confirmation, deletes the snapshot and waits until it is gone. Throws `not-approved`. */
export async function snapshotDelete(
  id: string,
  options: SnapshotDeleteOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  if (options.autoApprove !== true && !terminal.interactive) {
    throw new GraphformError(
      "not-approved",
      "no terminal to ask on: a deleted snapshot cannot be recovered",
      {
        hint: "graphform snapshot delete ID --auto-approve",
      },
    );
  }
  const target = await serviceTarget(options, settings);
  return withServiceOf(target, options, settings, terminal, async ({ service, signal, clock }) => {
    const { profile } = service;
    const shown = escapeText(id, 100);
    const look = (): Promise<Snapshot | undefined> =>
      describeSnapshot(service, id, signal).catch((error: unknown) => {
        if (isServiceError(error, "not-found")) return undefined;
        throw error;
      });
    const found = await look();
    if (found === undefined) throw unknownSnapshot(id);
    const question = `Delete the snapshot ${shown} of ${escapeText(found.instanceId ?? "an unknown instance", 100)}, made ${escapeText(found.createdAt ?? "at an unknown time", 100)}? Only "yes" is accepted: `;
    if (options.autoApprove !== true && !(await terminal.confirm(question, signal))) {
      terminal.err("Nothing was changed.\n");
      return exitCodes.error;
    }
    const timeout = options.timeout ?? profile.timing.timeout["delete"] ?? 600_000;
    const waiting = { clock, profile, stopping: signal, aborting: signal, hide: service.hide };
    await submit(
      changeWrite(
        {
          what: `deletion of ${id}`,
          send: () => service.write({ operation: "snapshot.delete", params: snapshotParams(found) }, signal),
          look,
          evaluate: (seen) =>
            seen === undefined ? { is: "accepted", value: { values: {} } } : { is: "repeat" },
          timeout,
        },
        waiting,
      ),
      waiting,
    );
    const deadline = clock.now() + timeout;
    const isGone = (seen: Snapshot | undefined): true | undefined => (seen === undefined ? true : undefined);
    const polled = await poll({ look, evaluate: isGone, deadline }, waiting);
    if (polled.is === "timeout") {
      terminal.err(`${shown} is still being deleted; see graphform snapshot list\n`);
      return exitCodes.converging;
    }
    terminal.out(`${shown} is deleted.\n`);
    return exitCodes.done;
  });
}
