/** @module Assigns the state to another service that has the same objects, or to another manifest. */
import { kinds } from "../../kinds/index.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { manifestDifference, serviceDifferences } from "../../model/service-identity.ts";
import type { StateDocument } from "../../model/state.ts";
import { type Run, unresolved } from "../../project/open-run.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/escape.ts";
import { amount } from "../../report/words.ts";
import { isEmpty } from "../../state/claim-state.ts";
import type { ManifestOptions } from "../options.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { withRun } from "../with-run.ts";

/**
 * `state rebind`: records that the state belongs to this manifest, and to the service of these settings, after it has found every
 * bound id there.
 * Throws `rebind-refused` if one is not shown, and writes nothing then.
 */
export async function stateRebind(
  options: ManifestOptions,
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const wanted = { reading: unresolved, lock: "state rebind", claim: (state: StateDocument) => state };
  const message = await withRun({ options, settings, terminal }, wanted, rebindUnderLock);
  terminal.out(`${message}\n`);
  return exitCodes.done;
}

async function rebindUnderLock(run: Run): Promise<string> {
  const { project, state, identity, service, signal } = run;
  if (state.serial === 0) {
    throw new GraphformError("state-missing", `no state at ${project.store.where}`, {
      hint: "nothing was applied or imported yet",
    });
  }
  const { service: before, manifest = {} } = state;
  const isSameService = before !== undefined && serviceDifferences(before, identity).length === 0;
  if (isSameService && manifestDifference(manifest, project.identity) === undefined)
    return "The state belongs to this service and this manifest already.";
  const bound = Object.entries(state.resources);
  if (bound.length === 0 && !isEmpty(state)) {
    throw refused("it has no resource to check, and one create was not confirmed", {
      hint: "name the service where it was started, or forget the create: graphform state rm ADDRESS",
    });
  }
  const missing: string[] = [];
  for (const [address, entry] of bound) {
    const live = await kinds.named(entry.kind).reader(service).get(entry, signal);
    if (live === undefined || live.phase.is === "gone") missing.push(`${address} (${entry.id})`);
  }
  if (missing.length > 0) {
    const named = `${missing.slice(0, 5).join(", ")}${missing.length > 5 ? ", ..." : ""}`;
    throw refused(`${missing.length} of ${bound.length} resources are not shown there: ${named}`, {
      hint: "name another state with --state, or run again if they were shown a moment ago; remove those that are gone: graphform state rm ADDRESS",
    });
  }
  await run
    .applying()
    .journal.record({ type: "service-recorded", service: identity, manifest: project.identity });
  return `The state belongs to this manifest and to ${escapeText(identity.platform, 200)} now; ${amount(bound.length, "resource")} found there.`;
}

function refused(why: string, options: { readonly hint: string }): GraphformError {
  return new GraphformError("rebind-refused", `the state stays with its service: ${why}`, options);
}
