/** @module Formats entries of a manifest: bindings of what is there already, and values in YAML. */
import type { Json } from "../model/json.ts";
import type { ShownPlan } from "./shown.ts";
import { escapeJson, escapeText } from "./typeset.ts";

/**
 * The section `imports` that binds everything that may be there already; no lines if nothing is. An entry is a comment if a person has to
 * decide, because several objects may be the resource, or several resources the object.
 */
export function importLines({ changes }: Pick<ShownPlan, "changes">): readonly string[] {
  const mayBe = changes
    .flatMap(({ address, kind, mayBe: found }) => (found === undefined ? [] : [{ address, kind, ...found }]))
    .sort((a, b) => (a.address < b.address ? -1 : 1));
  const uses = Map.groupBy(mayBe, ({ kind, ids }) => `${kind} ${ids[0]}`);
  const lines = mayBe.map(({ address, kind, ids, count }) => {
    const [id = ""] = ids;
    const isSure = count === 1 && uses.get(`${kind} ${id}`)?.length === 1;
    if (isSure) return `  ${importEntry(address, id)}`;
    const more = count > ids.length ? ` and ${count - ids.length} more` : "";
    return `  # ${importEntry(address, "ID")} # may be ${escapeText(ids.join(", "), 300)}${more}`;
  });
  return lines.length === 0 ? [] : ["imports:", ...lines];
}

export function importEntry(address: string, id: string): string {
  return `- { address: ${yamlScalar(address)}, id: ${yamlScalar(id)} }`;
}

/** A value in YAML: plain if that is safe, otherwise quoted as in JSON. `${` is escaped, so it is no expression. */
export function yamlScalar(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const text = value.replaceAll("${", () => "$${");
  const isPlain =
    /^[A-Za-z][A-Za-z0-9._/-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : escapeJson(JSON.stringify(text));
}
