/** @module Words the answers of a controller: tables of manifests, and a run with its changes. */
import { isObject, type JsonObject, textIn } from "../../model/json.ts";
import { escapeText } from "../../report/typeset.ts";
import { timeText } from "../../report/words.ts";
import { tableText } from "../terminal/table-text.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** A run with its changes; the command to type if it waits for an approval. */
export function runText(details: JsonObject, plan: JsonObject, name: string, terminal: Terminal): string {
  const found = isObject(details["run"]) ? details["run"] : {};
  const { fingerprint, reasons, status } = found;
  const facts = [
    ...[
      "tenant",
      "manifest",
      "kind",
      "trigger",
      "actor",
      "status",
      "why",
      "commit",
      "verdict",
      "fingerprint",
    ],
    ...["createdAt", "endedAt"],
  ].flatMap((key) => (textIn(found[key]) === undefined ? [] : [[key, String(found[key])]]));
  const decisions = rowsOf(details, "decisions").map(
    ({ decision, actor, at }) => `${String(decision)} by ${String(actor)} at ${String(at)}`,
  );
  const section = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? "" : `\n${title}\n${lines.map((line) => `  ${escapeText(line)}\n`).join("")}`;
  const way = `\napprove it: graphform fleet approve ${name} --fingerprint ${String(fingerprint)}\n`;
  return [
    tableText(["run", name], facts, terminal),
    section("Reasons:", Array.isArray(reasons) ? reasons.map(String) : []),
    section("Changes:", changesOf(plan)),
    section("Decisions:", decisions),
    status === "needs_approval" ? way : "",
  ].join("");
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
    return [`${actions.join(", ")} ${String(address)}${keys.length === 0 ? "" : `: ${keys.join(", ")}`}`];
  });
}

export function manifestTable(rows: readonly JsonObject[], terminal: Terminal): string {
  const cells = rows.map((row) => {
    const paused = textIn(row["pausedUntil"]);
    const isPaused = paused !== undefined && Date.parse(paused) > Date.now();
    const checked = textIn(row["checkedAt"]);
    const about =
      textIn(row["trouble"])?.split("\n")[0] ??
      (isPaused
        ? `paused until ${timeText(paused)}`
        : (textIn(row["why"]) ?? textIn(row["waitingRun"]) ?? ""));
    return [
      `${String(row["tenant"])}/${String(row["name"])}`,
      String(row["status"]),
      checked === undefined ? "never" : timeText(checked),
      about,
    ];
  });
  return tableText(["manifest", "status", "checked", "about"], cells, terminal);
}

export function rowsOf(document: JsonObject, member: string): readonly JsonObject[] {
  const list = document[member];
  return Array.isArray(list) ? list.filter(isObject) : [];
}
