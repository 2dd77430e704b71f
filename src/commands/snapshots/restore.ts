import { snapshotParams } from "../../kinds/instance-snapshots.ts";
import { exitCodes } from "../../model/errors.ts";
import type { ManifestOptions } from "../options.ts";
import { askForRestore, restoredText } from "../request-restore.ts";
import { serviceTarget } from "../service-target.ts";
import { withServiceOf } from "../service-work.ts";
import type { Terminal } from "../terminal.ts";
import { completeSnapshot } from "./snapshot.ts";

/** What `snapshot restore` was told. */
export interface SnapshotRestoreOptions extends ManifestOptions {
  /** Public or internal endpoint of the new instance. */
  readonly networkType?: string;
  /** Id of the network that the new instance is to live in. */
  readonly network?: string;
  readonly json?: boolean;
}

/**
 * `snapshot restore ID`: makes a new instance out of a snapshot; the old one stays as it is. It is asked for once: where
 * the answer is lost, a second request would make a second database.
 */
export async function snapshotRestore(
  id: string,
  options: SnapshotRestoreOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const target = await serviceTarget(options, env, terminal);
  return withServiceOf(target, options, env, terminal, async ({ service, signal }) => {
    const source = await completeSnapshot(service, id, "restored", signal);
    const { networkType, network } = options;
    const body = {
      ...(networkType === undefined ? {} : { networkType }),
      ...(network === undefined ? {} : { network }),
    };
    const call = { operation: "snapshot.restore", params: snapshotParams(source), body };
    restoredText(id, await askForRestore(service, call, id, signal), options.json === true, terminal);
    return exitCodes.done;
  });
}
