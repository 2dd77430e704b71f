/** @module Restores a snapshot as a new instance. */

import { snapshotParams } from "../../kinds/instance-history.ts";
import { exitCodes } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Settings } from "../../project/settings.ts";
import type { ManifestOptions } from "../options.ts";
import { printRestore, requestRestore } from "../request-restore.ts";
import { serviceTarget } from "../service-target.ts";
import { withServiceOf } from "../service-work.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { completeSnapshot } from "./list.ts";

/** Options of `snapshot restore`. */
export interface SnapshotRestoreOptions extends ManifestOptions {
  /** Public or internal endpoint of the new instance. */
  readonly networkType?: string;
  /** Id of the network for the new instance. */
  readonly network?: string;
  readonly json?: boolean;
}

/**
 * `snapshot restore ID`: creates a new instance from a snapshot and leaves the old one unchanged. Sends the request once: if
 * the answer is lost, a second request would make a second database.
 */
export async function snapshotRestore(
  id: string,
  options: SnapshotRestoreOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const target = await serviceTarget(options, settings);
  return withServiceOf(target, options, settings, terminal, async ({ service, signal }) => {
    const source = await completeSnapshot(service, id, "restored", signal);
    const { networkType, network } = options;
    const body = {
      ...defined({ networkType, network }),
    };
    const call = { operation: "snapshot.restore", params: snapshotParams(source), body };
    printRestore(id, await requestRestore(service, call, id, signal), options.json === true, terminal);
    return exitCodes.done;
  });
}
