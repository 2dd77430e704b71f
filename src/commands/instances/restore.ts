import { instanceParams } from "../../kinds/instance-params.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { emptyState } from "../../state/document.ts";
import { boundAt } from "../bound-at.ts";
import type { ManifestOptions } from "../options.ts";
import { askForRestore, restoredText } from "../request-restore.ts";
import { withService } from "../service-work.ts";
import type { Terminal } from "../terminal.ts";

/** What `instance restore` was told. */
export interface InstanceRestoreOptions extends ManifestOptions {
  /** The time to go back to, ISO 8601. */
  readonly to: string;
  /** Public or internal endpoint of the new instance. */
  readonly networkType?: string;
  readonly json?: boolean;
}

/**
 * `instance restore ADDRESS --to TIME`: makes a new instance with the data that a bound one had at a time; the bound one stays
 * as it is. Throws `not-offered` where the profile has no such operation.
 */
export async function instanceRestore(
  address: string,
  options: InstanceRestoreOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const time = new Date(options.to);
  if (Number.isNaN(time.getTime())) {
    throw new GraphformError("time-invalid", `--to ${options.to} is no time`, {
      hint: "write it like 2026-01-31T12:00:00Z",
    });
  }
  return withService(options, env, terminal, async ({ project, service, signal }) => {
    if (!service.offers("instance.restore")) {
      throw new GraphformError("not-offered", `profile ${service.profile.name} cannot go back to a time`, {
        hint: "graphform snapshot list shows what can be restored",
      });
    }
    const state = (await project.store.read()) ?? emptyState(project.header.name);
    const { id, place } = boundAt(state, address, "instances");
    const { networkType } = options;
    const body = {
      targetRestoreTime: time.toISOString(),
      ...(networkType === undefined ? {} : { networkType }),
    };
    const params = { ...instanceParams(place, service.profile), id };
    const made = await askForRestore(
      service,
      { operation: "instance.restore", params, body },
      address,
      signal,
    );
    restoredText(address, made, options.json === true, terminal);
    return exitCodes.done;
  });
}
