/** @module Lists the events of an instance. */
import { instanceEvents } from "../../kinds/instance-events.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import type { Settings } from "../../project/settings.ts";
import { jsonText } from "../../report/json-text.ts";
import { emptyState } from "../../state/document.ts";
import { boundAt } from "../bound-at.ts";
import type { ManifestOptions } from "../options.ts";
import { withService } from "../service-work.ts";
import { tableText } from "../table-text.ts";
import type { Terminal } from "../terminal.ts";

/** `instance events ADDRESS`: prints the events that the service recorded, newest first. Throws `not-offered`. */
export async function listInstanceEvents(
  address: string,
  options: ManifestOptions & { readonly json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  return withService(options, settings, terminal, async ({ project, service, signal }) => {
    if (!service.offers("instance.events")) {
      throw new GraphformError("not-offered", `profile ${service.profile.name} shows no events`, {
        hint: "graphform profile show lists what it has",
      });
    }
    const state = (await project.store.read()) ?? emptyState(project.header.name);
    const events = await instanceEvents(service, boundAt(state, address, "instances").id, signal);
    if (options.json === true) terminal.out(`${jsonText(events.map((event) => ({ ...event })))}\n`);
    else if (events.length === 0) terminal.out("The service shows no events.\n");
    else {
      const rows = events.map(({ time, user, message }) => [time, user ?? "-", message]);
      terminal.out(tableText(["time", "user", "event"], rows, terminal));
    }
    return exitCodes.done;
  });
}
