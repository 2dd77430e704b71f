/** @module Words the answers of a controller: tables of manifests, and a run with its changes. */
import { isObject, type JsonObject, objectsIn, textIn } from "../../model/json.ts";
import { escapeText, makePalette } from "../../report/typeset.ts";
import { timeText } from "../../report/words.ts";
import { tableText } from "../terminal/table-text.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { changeLines } from "./plan-changes.ts";

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
  const decisions = objectsIn(details["decisions"]).map(
    ({ decision, actor, at }) => `${String(decision)} by ${String(actor)} at ${String(at)}`,
  );
  const section = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? "" : `\n${title}\n${lines.map((line) => `  ${escapeText(line)}\n`).join("")}`;
  const way = `\napprove it: graphform fleet approve ${name} --fingerprint ${String(fingerprint)}\n`;
  const whole = `GET /api/v1/runs/${name}/plan`;
  const changes = changeLines(plan, whole, {
    palette: makePalette(terminal.colour),
    width: terminal.width,
  });
  return [
    tableText(["run", name], facts, terminal),
    section("Reasons:", Array.isArray(reasons) ? reasons.map(String) : []),
    changes.length === 0 ? "" : `\nChanges:\n${changes.join("\n")}\n`,
    section("Decisions:", decisions),
    status === "needs_approval" ? way : "",
  ].join("");
}

export function manifestTable(rows: readonly JsonObject[], terminal: Terminal): string {
  const cells = rows.map((row) => {
    const paused = textIn(row["pausedUntil"]);
    const isPaused = paused !== undefined && Date.parse(paused) > Date.now();
    const checked = textIn(row["checkedAt"]);
    const about =
      textIn(row["trouble"]) ??
      (isPaused
        ? `paused until ${timeText(paused)}`
        : (textIn(row["why"]) ?? textIn(row["waitingRun"]) ?? ""));
    return [
      `${String(row["tenant"])}/${String(row["name"])}`,
      String(row["status"]),
      checked === undefined ? "never" : timeText(checked),
      about.split("\n")[0] ?? "",
    ];
  });
  return tableText(["manifest", "status", "checked", "about"], cells, terminal);
}
