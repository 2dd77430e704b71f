/** @module Shows where migrations stand, and takes one back. */
import { unplannedStep } from "../apply/operations/existing.ts";
import { outcomeOf } from "../apply/outcome.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { defined, type JsonObject } from "../model/json.ts";
import type { Step } from "../model/plan.ts";
import type { Migration, RecordedOutput } from "../model/state.ts";
import type { Journal } from "../model/state-event.ts";
import { resolveKnown, waitsFor } from "../model/templates.ts";
import { type ReadManifest, type Run, resolving } from "../project/open-run.ts";
import { openProject } from "../project/project.ts";
import { carryOut } from "../reconcile/apply-plan.ts";
import { capCommand } from "../replace/data/quiesce.ts";
import { rowOf } from "../replace/phases.ts";
import { escapeText, jsonText } from "../report/typeset.ts";
import { boundAt, liveAt } from "./bound-objects.ts";
import { stepReport } from "./reports/apply-report.ts";
import { type Invocation, interrupted, type ManifestOptions, shownLatestState, withRun } from "./with-run.ts";

type ReplaceOptions = ManifestOptions & { readonly json?: boolean };

/** `replace status [ADDRESS]`: prints the migrations of the state, without asking any service. */
export async function replaceStatus(
  { options, settings, terminal }: Invocation<ReplaceOptions>,
  address?: string,
): Promise<number> {
  const project = await openProject(options, settings);
  const state = await shownLatestState(project.store, terminal);
  const all = Object.entries(state?.migrations ?? {}).filter(
    ([at]) => address === undefined || at === address,
  );
  if (address !== undefined && all.length === 0)
    throw new GraphformError("no-migration", `no data is being moved at ${address}`, {
      hint: "graphform replace status lists all migrations",
    });
  if (options.json === true) {
    const entries = all.map(([at, { former: _, mark: __, ...migration }]): [string, JsonObject] => [
      at,
      { ...migration, rehearsed: { ...migration.rehearsed } },
    ]);
    terminal.out(`${jsonText(Object.fromEntries(entries))}\n`);
    return exitCodes.done;
  }
  if (all.length === 0) terminal.out("No data is being moved.\n");
  for (const [at, migration] of all)
    terminal.out(
      `${statusLines(at, migration)
        .map((line) => escapeText(line, 1000))
        .join("\n")}\n`,
    );
  return exitCodes.done;
}

function statusLines(address: string, migration: Migration): readonly string[] {
  const { phase, since, rehearsed, heldUntil, cap } = migration;
  const { does, proof, afterKill } = rowOf(migration);
  const line = (name: string, text: string): string => `  ${name.padEnd(10)} ${text}`;
  return [
    `${address}: ${phase} since ${since}`,
    line("does", does),
    line("proof", proof),
    line("if killed", afterKill),
    ...(rehearsed === undefined
      ? []
      : [
          line(
            "rehearsed",
            `copy ${rehearsed.copy} ms, compare ${rehearsed.verify} ms, ${rehearsed.bytes} bytes, at ${rehearsed.at}`,
          ),
        ]),
    ...(heldUntil === undefined ? [] : [line("kept until", heldUntil)]),
    ...(cap === undefined
      ? []
      : [
          line(
            "by hand",
            `the next plan or apply lets writes begin again; at the database itself: ${capCommand(cap)}`,
          ),
        ]),
  ];
}

/** `replace undo ADDRESS`: goes back to the old database. Throws `not-bound`, `nothing-to-undo`. */
export async function replaceUndo(invocation: Invocation<ReplaceOptions>, address: string): Promise<number> {
  const { options, terminal } = invocation;
  const { event: emit } = stepReport(options.json === true, terminal);
  const warn = (message: string): void => emit({ type: "warning", message });
  return withRun(
    invocation,
    { reading: resolving("declared"), lock: "replace undo", warn },
    async (run, { aborting }) => {
      const world = run.applying({ emit, aborting });
      const step: Step = {
        ...unplannedStep(address, boundAt(run.state, address), "migrate", world.digest),
        ...{ key: `${address}#undo`, verb: "undo" },
        ...defined({ timeout: options.timeout }),
        migration: { cutover: true, inside: [], parameters: [], windows: [], hold: 0 },
      };
      const steps = await carryOut([step], world);
      await recordOutputs(address, run, world.journal);
      if (world.stopping.aborted) throw interrupted();
      for (const { hint } of steps) if (hint !== undefined) terminal.err(`${escapeText(hint)}\n`);
      return outcomeOf(steps, [], {}, []).exitCode;
    },
  );
}

/** Records the outputs that name the object of an address, or of one inside of it, which are others now. One that cannot be read is left to the next apply. */
async function recordOutputs(
  address: string,
  { manifest, service, clock, signal }: Run & ReadManifest,
  { state, record }: Pick<Journal, "state" | "record">,
): Promise<void> {
  const changed = new Set([address, ...Object.keys(state.migrations?.[address]?.former ?? {})]);
  const named = Object.entries(manifest.outputs).filter(([, { value }]) =>
    waitsFor(value).some((at) => changed.has(at)),
  );
  const outputs = new Map<string, JsonObject>();
  for (const at of new Set(named.flatMap(([, { value }]) => waitsFor(value)))) {
    const live = await liveAt(at, { state, service, clock, signal }).catch(() => undefined);
    if (live !== undefined) outputs.set(at, live.outputs);
  }
  const found = named.flatMap(([name, declared]): [string, RecordedOutput][] => {
    const value = resolveKnown(declared.value, (at) => outputs.get(at));
    const known = state.outputs[name];
    return known === undefined || waitsFor(value).length > 0 ? [] : [[name, { ...known, value }]];
  });
  await record({ type: "outputs-recorded", outputs: { ...state.outputs, ...Object.fromEntries(found) } });
}
