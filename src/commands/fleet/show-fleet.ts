/** @module Prints what a controller knows: its manifests, their drift, locks, and runs. */
import { exitCodes } from "../../model/errors.ts";
import { isObject, type JsonObject, textIn } from "../../model/json.ts";
import { escapeText } from "../../report/typeset.ts";
import { timeText } from "../../report/words.ts";
import { tableText } from "../terminal/table-text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { Invocation } from "../with-run.ts";
import { controllerClient } from "./controller-client.ts";
import { type FleetOptions, nameOf, print, query, rowsOf, runPath } from "./fleet.ts";

/** `fleet list`: the manifests with their states. */
export async function fleetList({
  options,
  settings,
  terminal,
}: Invocation<FleetOptions & { readonly status?: string }>): Promise<number> {
  const found = await controllerClient(settings).pages(
    `/api/v1/manifests${query(options, "status")}`,
    "manifests",
  );
  return print(terminal, options, found, manifestTable(rowsOf(found, "manifests"), terminal));
}

/** `fleet drift`: the manifests that the service differs from. Exit 2 if there are any. */
export async function fleetDrift({ options, settings, terminal }: Invocation<FleetOptions>): Promise<number> {
  const found = await controllerClient(settings).pages(`/api/v1/drift${query(options)}`, "manifests");
  const drifted = rowsOf(found, "manifests");
  const oldest = textIn(found["oldestCheckAt"]);
  const head = `${String(found["checked"])} of ${String(found["total"])} manifests checked${oldest === undefined ? "" : `, the oldest check at ${timeText(oldest)}`}; ${drifted.length} drifted\n`;
  print(
    terminal,
    options,
    found,
    drifted.length === 0 ? head : `${head}\n${manifestTable(drifted, terminal)}`,
  );
  return drifted.length === 0 ? exitCodes.done : exitCodes.changes;
}

/** `fleet locks`: the states that are locked, with their holders. */
export async function fleetLocks({ options, settings, terminal }: Invocation<FleetOptions>): Promise<number> {
  const found = await controllerClient(settings).ask("GET", `/api/v1/locks${query(options)}`);
  const rows = rowsOf(found, "locks").map(({ state, operation, who, host, heartbeatAt }) =>
    [state, operation, `${String(who)} at ${String(host)}`, timeText(String(heartbeatAt))].map(String),
  );
  return print(
    terminal,
    options,
    found,
    tableText(["state", "operation", "holder", "renewed"], rows, terminal),
  );
}

/** `fleet runs`: runs, newest first. */
export async function fleetRuns(
  {
    options,
    settings,
    terminal,
  }: Invocation<FleetOptions & { readonly status?: string; readonly limit: string }>,
  name?: string,
): Promise<number> {
  const client = controllerClient(settings);
  const [tenant, manifest] = name === undefined ? [options.tenant] : await nameOf(client, name, options);
  const found = await client.ask(
    "GET",
    `/api/v1/runs${query({ ...options, tenant, manifest }, "manifest", "status", "limit")}`,
  );
  const rows = rowsOf(found, "runs").map((run) =>
    [
      run["id"],
      `${String(run["tenant"])}/${String(run["manifest"])}`,
      run["kind"],
      run["status"],
      timeText(String(run["createdAt"])),
      firstReason(run),
    ].map(String),
  );
  return print(
    terminal,
    options,
    found,
    tableText(["run", "manifest", "kind", "status", "begun", "reason"], rows, terminal),
  );
}

/** `fleet show`: a run with its changes; what to type if it waits for an approval. */
export async function fleetShow(
  { options, settings, terminal }: Invocation<FleetOptions>,
  run: string,
): Promise<number> {
  const client = controllerClient(settings);
  const details = await client.ask("GET", runPath(run));
  const found = isObject(details["run"]) ? details["run"] : {};
  const fingerprint = textIn(found["fingerprint"]);
  const facts = [
    "tenant",
    "manifest",
    "kind",
    "trigger",
    "actor",
    "status",
    "commit",
    "verdict",
    "fingerprint",
    "createdAt",
    "endedAt",
  ].flatMap((key) => (textIn(found[key]) === undefined ? [] : [[key, String(found[key])]]));
  const reasons = Array.isArray(found["reasons"])
    ? found["reasons"].map((reason) => `  ${escapeText(String(reason))}\n`)
    : [];
  const decisions = rowsOf(details, "decisions").map(
    ({ decision, actor, at }) =>
      `  ${escapeText(`${String(decision)} by ${String(actor)} at ${String(at)}`)}\n`,
  );
  const changes =
    options.json === true || fingerprint === undefined
      ? []
      : changesOf(await client.ask("GET", runPath(run, "/plan")));
  const way =
    found["status"] === "needs_approval"
      ? `\napprove it: graphform fleet approve ${run} --fingerprint ${fingerprint}\n`
      : "";
  const section = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? "" : `\n${title}\n${lines.join("")}`;
  const text = `${tableText(["run", run], facts, terminal)}${section("Reasons:", reasons)}${section("Changes:", changes)}${section("Decisions:", decisions)}${way}`;
  return print(terminal, options, details, text);
}

/** One line for each change of a plan's document. */
function changesOf(plan: JsonObject): readonly string[] {
  return rowsOf(plan, "resource_changes").flatMap(({ address, change }) => {
    const actions = isObject(change) && Array.isArray(change["actions"]) ? change["actions"].map(String) : [];
    if (!isObject(change) || actions.every((action) => action === "no-op" || action === "read")) return [];
    const [before, after] = [change["before"], change["after"]];
    const keys =
      isObject(before) && isObject(after)
        ? Object.keys({ ...before, ...after }).filter(
            (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
          )
        : [];
    return [
      `  ${escapeText(`${actions.join(", ")} ${String(address)}${keys.length === 0 ? "" : `: ${keys.join(", ")}`}`)}\n`,
    ];
  });
}

function manifestTable(rows: readonly JsonObject[], terminal: Terminal): string {
  const cells = rows.map((row) => {
    const paused = textIn(row["pausedUntil"]);
    const isPaused = paused !== undefined && Date.parse(paused) > Date.now();
    const checked = textIn(row["checkedAt"]);
    const about =
      textIn(row["trouble"]) ??
      (isPaused ? `paused until ${timeText(paused)}` : (textIn(row["waitingRun"]) ?? ""));
    return [
      `${String(row["tenant"])}/${String(row["name"])}`,
      String(row["status"]),
      checked === undefined ? "never" : timeText(checked),
      about,
    ];
  });
  return tableText(["manifest", "status", "checked", "about"], cells, terminal);
}

function firstReason({ reasons }: JsonObject): string {
  return Array.isArray(reasons) ? (textIn(reasons[0])?.split("\n")[0] ?? "") : "";
}
