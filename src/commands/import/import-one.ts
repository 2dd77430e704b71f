/** @module Binds one existing object to a declared address. */
import { unplannedStep } from "../../apply/context.ts";
import { kinds } from "../../kinds/index.ts";
import { nearest } from "../../manifest/problems/fault.ts";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import { own } from "../../model/json.ts";
import type { Kind } from "../../model/kind.ts";
import type { Manifest } from "../../model/manifest.ts";
import { objectKey, type Ref } from "../../model/observed.ts";
import type { Change, Step } from "../../model/plan.ts";
import { fieldsOf } from "../../model/spec.ts";
import type { StateDocument } from "../../model/state.ts";
import { resolving } from "../../project/open-run.ts";
import { runSteps } from "../../reconcile/apply-plan.ts";
import { planFor } from "../../reconcile/plan-for.ts";
import { escapeText } from "../../report/typeset.ts";
import { amount } from "../../report/words.ts";
import { goalOf } from "../options.ts";
import { type Invocation, type ManifestOptions, withRun } from "../with-run.ts";

/** Options of `import`; those besides --all need it. */
export interface ImportOptions extends ManifestOptions {
  readonly all?: boolean;
  readonly out?: string;
  readonly name?: string;
  readonly users?: boolean;
}

/**
 * `import ADDRESS ID`: binds an existing object to a declared address and prints the fields that differ. Changes nothing at the
 * service. Throws `import-not-found` if the object does not exist, `bound-already` if the address or the object is bound.
 */
export async function importOne(
  invocation: Invocation<ImportOptions>,
  address?: string,
  id?: string,
): Promise<number> {
  const { options, terminal } = invocation;
  if (address === undefined || id === undefined)
    throw usageError("import needs an address and an id, or --all");
  const misplaced = (["out", "name", "users"] as const).find((name) => options[name] !== undefined);
  if (misplaced !== undefined) throw usageError(`--${misplaced} needs --all`);
  const wanted = { reading: resolving("declared"), lock: "import" };
  return withRun(invocation, wanted, async (run, { aborting }) => {
    const { manifest, state } = run;
    const bound = own(state.resources, address);
    if (bound !== undefined) {
      const hint = bound.id === id ? "nothing to do" : removeFirst(address);
      throw new GraphformError("bound-already", `${address} is bound to ${bound.id} already`, { hint });
    }
    const declared = manifest.desired.find((entry) => entry.address === address);
    if (declared === undefined) throw undeclared(address, manifest);
    const desired = manifest.desired.map((entry) =>
      entry === declared ? { ...entry, importId: id } : entry,
    );
    const only = { project: run.project, manifest: { ...manifest, desired, imports: [], outputs: {} } };
    const goal = goalOf(only, { target: [address], probe: false });
    const { plan, outputs } = await planFor(goal, state, run.planning);
    const change = plan.changes.find((entry) => entry.address === address);
    const kind = kinds.named(declared.kind);
    const place = plan.steps.find((entry) => entry.address === address)?.place ?? {};
    const ownId = kind.idAt(place, id);
    if (change?.id !== ownId)
      throw new GraphformError("import-not-found", `there is no ${id} to bind ${address} to`, {
        hint: "check the id, and that tier, component and subscription match the object",
      });
    assertObjectFree(state, kind, { id: ownId, place });
    if (change.phase?.isLeaving === true)
      throw new GraphformError("import-deleting", `${id} is being deleted, and cannot be kept`, {
        hint: "once it is gone, apply creates what the manifest declares",
      });
    // Observed values are recorded as applied, and declared ones if the service shows none.
    const declaredFields = fieldsOf(change.after ?? {});
    const deps = run.applying({ aborting });
    const step: Step = {
      ...unplannedStep(address, { kind: declared.kind, id: ownId, place }, "bind", deps.digest),
      spec: Object.fromEntries(declaredFields.map(([path, value]) => [path, change.before?.[path] ?? value])),
      protect:
        declared.lifecycle.protect ??
        (own(state.intents, address)?.protect === true || kind.protectedByDefault(declared.spec)),
      onDelete: declared.lifecycle.onDelete,
      refs: declared.refs,
    };
    const [outcome] = await runSteps([step], deps, outputs);
    if (outcome?.result !== "done")
      throw new GraphformError("import-failed", outcome?.message ?? "the binding was not written");
    terminal.out(`${escapeText(address, 300)} is bound to ${escapeText(ownId, 100)}.\n`);
    terminal.err(differences(change));
    return exitCodes.done;
  });
}

function differences({ fields, action, before, after, phase }: Change): string {
  const unseen = fieldsOf(after ?? {}).flatMap(([path]) =>
    before?.[path] === undefined ? [path.replace(/^config\./, "")] : [],
  );
  const paths = fields.map((field) => escapeText(field.path, 100)).join(", ");
  const fixed =
    "; some cannot be changed in place: correct the manifest, or the plan will replace the object";
  const which = `${fields.length === 1 ? "differs" : "differ"} from the manifest: ${paths}`;
  const sentences = [
    [
      fields.length > 0,
      `${amount(fields.length, "field")} ${which}${action === "replace" ? fixed : ""}; see graphform plan.`,
    ],
    [
      unseen.length > 0,
      `Not shown by the service, taken from your file: ${escapeText(unseen.join(", "), 1000)}.`,
    ],
    [fields.length === 0 && unseen.length === 0, "No differences found."],
    [phase?.isUnnamed === true, `Its status is ${escapeText(phase?.detail ?? "")}.`],
  ] as const;
  return `${["Bound.", ...sentences.flatMap(([isSaid, text]) => (isSaid ? [text] : []))].join(" ")}\n`;
}

function assertObjectFree(state: StateDocument, { name, idAt }: Kind, ref: Ref): void {
  const keyOf = (kind: string, { id, place }: Ref): string => objectKey(kind, { id: idAt(place, id), place });
  const key = keyOf(name, ref);
  const other = Object.entries(state.resources).find(
    ([, entry]) => entry.kind === name && keyOf(entry.kind, entry) === key,
  )?.[0];
  if (other === undefined) return;
  throw new GraphformError("bound-already", `${ref.id} is bound to ${other} already`, {
    hint: removeFirst(other),
  });
}

function removeFirst(address: string): string {
  return `remove that binding first: graphform state rm '${address}'`;
}

function undeclared(wanted: string, { desired }: Manifest): GraphformError {
  const addresses = desired.map(({ address }) => address);
  const close = nearest(wanted, addresses);
  const none = "declare it first, or let `graphform import --all` write it";
  return new GraphformError("import-undeclared", `the manifest declares nothing at ${wanted}`, {
    exitCode: exitCodes.invalid,
    hint: close === undefined ? none : `did you mean ${close}?`,
  });
}

export function usageError(message: string): GraphformError {
  return new GraphformError("import-usage", message, {
    hint: "graphform import instances.orders instance-abc, or graphform import --all --out graphform.yaml",
  });
}
