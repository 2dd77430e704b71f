/** @module Reads the instructions that a person must follow to connect a cloud account. */
import type { Json } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Hide } from "../model/known-secrets.ts";
import type { Answer } from "../model/service.ts";

/** The instructions for the person who connects a cloud account. */
export interface Instructions {
  /** The one command or address that does it, where the service gives one. */
  readonly first?: string;
  /** Everything that the service gives for it, each under a line that says what it is. */
  readonly text: string;
}

/** Names of a describe answer that say how an account is set up, and how it is given back. */
const names: { readonly [step in "bootstrap" | "offboard"]: (name: string) => boolean } = {
  bootstrap: (name) => isWay(name, "bootstrap", ways) || isWay(name, "template", ["url", "link"]),
  offboard: (name) => isWay(name, "offboard", ways),
};

const ways: readonly string[] = ["command", "script", "url", "link"];

/** True for a name that speaks of a step and ends with one of the ways to take it: `awsBootstrapShellCommand`. */
function isWay(name: string, step: string, ends: readonly string[]): boolean {
  const lower = name.toLowerCase();
  const end = ends.find((ending) => lower.endsWith(ending));
  return end !== undefined && lower.slice(0, -end.length).includes(step);
}

/** Answer key of the profile for each instruction, for a vendor with names of its own. */
const values = { bootstrap: "instructions", offboard: "offboard" };

/**
 * The instructions in an account configuration, whatever the vendor prefixes their names with:
 * template addresses and shell commands of the bootstrap, or of the offboarding; and what the service says to it.
 */
export function instructionsOf(
  answer: Answer,
  step: "bootstrap" | "offboard",
  hide: Hide,
): Instructions | undefined {
  const named = textsOf(answer.body)
    .filter(([name]) => names[step](name))
    .map(([name, text]) => [name, hide(text)] as const);
  const shown = answer.values[values[step]];
  const found = named.length > 0 || typeof shown !== "string" ? named : [[step, hide(shown)] as const];
  const message = answer.values["statusMessage"];
  const said = typeof message === "string" ? [`# ${oneLine(message)}`] : [];
  const first = found[0]?.[1];
  if (first === undefined && said.length === 0) return undefined;
  const text = [...said, ...found.flatMap(([name, value]) => [`# ${spaced(name)}`, value])].join("\n");
  return { text, ...(first === undefined ? {} : { first: oneLine(first) }) };
}

function textsOf(value: Json): readonly (readonly [string, string])[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]): readonly (readonly [string, string])[] => {
    if (typeof inner === "string") return inner === "" ? [] : [[name, inner]];
    return textsOf(inner);
  });
}

/** `awsCloudFormationTemplateURL` as people read it: `aws Cloud Formation Template URL`. */
function spaced(name: string): string {
  return oneLine(name.replaceAll("_", " ").replace(/([a-z0-9])([A-Z])/g, "$1 $2"));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
