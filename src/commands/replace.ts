/** @module Shows where migrations stand, and takes one back. */
import { unplannedStep } from "../apply/context.ts";
import { outcomeOf } from "../apply/join-results.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { defined, type JsonObject } from "../model/json.ts";
import type { Step } from "../model/plan.ts";
import type { Migration } from "../model/state.ts";
import { resolving } from "../project/open-run.ts";
import { openProject } from "../project/project.ts";
import { runSteps } from "../reconcile/apply-plan.ts";
import { capCommand } from "../replace/data/quiesce.ts";
import { rowOf } from "../replace/phases.ts";
import { escapeText, jsonText } from "../report/typeset.ts";
import { boundAt } from "./bound-objects.ts";
import { stepReport } from "./reports/apply-report.ts";
import { type Invocation, interrupted, latestStateOf, type ManifestOptions, withRun } from "./with-run.ts";

type ReplaceOptions = ManifestOptions & { readonly json?: boolean };

/** `replace status [ADDRESS]`: prints the migrations of the state, without asking any service. */
export async function replaceStatus(
  { options, settings, terminal }: Invocation<ReplaceOptions>,
  address?: string,
): Promise<number> {
  const project = await openProject(options, settings);
  const state = await latestStateOf(project.store, terminal);
  const all = Object.entries(state?.migrations ?? {}).filter(
    ([at]) => address === undefined || at === address,
  );
  if (address !== undefined && all.length === 0)
    throw new GraphformError("no-migration", `no data is being moved at ${address}`, {
      hint: "graphform replace status lists all migrations",
    });
  if (options.json === true) {
    const entries = all.map(
      ([at, { former: _, mark: __, rehearsed, ...migration }]): [string, JsonObject] => [
        at,
        { ...migration, ...defined({ rehearsed: rehearsed && { ...rehearsed } }) },
      ],
    );
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
  const { phase, since, rehearsed, heldUntil, cap, pausedUntil } = migration;
  const { does, proof, afterKill } = rowOf(migration);
  const times = rehearsed && `copy ${rehearsed.copy} ms, compare ${rehearsed.verify} ms`;
  const byHand = "the next plan or apply lets writes begin again; at the database itself";
  const unpause = "CLIENT UNPAUSE on every node";
  const left = cap === undefined ? (pausedUntil === undefined ? [] : [unpause]) : [capCommand(cap), unpause];
  const rows: readonly (readonly [name: string, text: string | undefined])[] = [
    ["does", does],
    ["proof", proof],
    ["if killed", afterKill],
    ["rehearsed", rehearsed && `${times}, ${rehearsed.bytes} bytes, at ${rehearsed.at}`],
    ["kept until", heldUntil],
    ["paused to", pausedUntil],
    ["by hand", left.length === 0 ? undefined : `${byHand}: ${left.join(", and ")}`],
  ];
  const lines = rows.flatMap(([name, text]) => (text === undefined ? [] : [`  ${name.padEnd(10)} ${text}`]));
  return [`${address}: ${phase} since ${since}`, ...lines];
}

const noTerms = { cutover: true, inside: [], parameters: [], windows: [], hold: 0 };

/** `replace undo ADDRESS`: goes back to the old database. Throws `not-bound`, `nothing-to-undo`. */
export async function replaceUndo(invocation: Invocation<ReplaceOptions>, address: string): Promise<number> {
  const { options, terminal } = invocation;
  const { event: emit } = stepReport(options.json === true, terminal);
  const warn = (message: string): void => emit({ type: "warning", message });
  return withRun(
    invocation,
    { reading: resolving("declared"), lock: "replace undo", warn },
    async (run, { aborting }) => {
      const deps = run.applying({ emit, aborting });
      const step: Step = {
        ...unplannedStep(address, boundAt(run.state, address), "migrate", deps.digest),
        ...{ key: `${address}#undo`, verb: "undo" },
        ...defined({ timeout: options.timeout }),
        migration: { ...noTerms, outputs: run.manifest.outputs },
      };
      const steps = await runSteps([step], deps);
      if (deps.stopping.aborted) throw interrupted();
      for (const { hint } of steps) if (hint !== undefined) terminal.err(`${escapeText(hint)}\n`);
      return outcomeOf(steps, [], {}, []).exitCode;
    },
  );
}
