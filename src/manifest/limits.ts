/** @module Refuses what a manifest by an author who is not trusted may not do: run programs, read this machine, choose the service. */
import type { ManifestLimits, SecretSource } from "../model/manifest.ts";
import { type Fault, suggest } from "./problems/fault.ts";

/** Sections that a manifest may not have if its author is not trusted: the configuration of the controller sets them. */
export const refusedSections: readonly string[] = ["service", "state"];

function notAllowed(message: string, hint: string): Fault {
  return { code: "not-allowed-here", message, hint };
}

export function sectionFault(section: string): Fault {
  return notAllowed(
    `${section} is set by the configuration of the controller, and not by a manifest`,
    `remove the section ${section}; an operator sets it for the tenant`,
  );
}

/** A further word of a command: a plain argument, which no program takes for an option or for a path elsewhere. */
const plainWord = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}$/;

/** Returns the command that a name stands for, with the further words; the fault if it may not run. */
export function allowedCommand(
  [name = "", ...words]: readonly string[],
  { commands }: ManifestLimits,
): { readonly run: readonly string[]; readonly env: readonly string[] } | Fault {
  const named = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const names = Object.keys(commands);
  if (named === undefined)
    return notAllowed(
      `the command ${JSON.stringify(name)} may not run here`,
      names.length === 0
        ? "name an environment variable; the configuration of the controller names no command for this tenant"
        : suggest(name, names, "commands of this tenant are"),
    );
  const wrong = words.find((word) => !plainWord.test(word) || word.split("/").includes(".."));
  if (wrong === undefined && words.length <= 8) return { ...named, run: [...named.run, ...words] };
  return notAllowed(
    `a word after the command ${name} is not a plain argument`,
    "write at most 8 words of letters, digits and _ . / -, without - at the beginning and without ..",
  );
}

/** Returns the source that may be read for a secret; a fault if there is none. */
export function allowedSource(source: SecretSource, limits: ManifestLimits): SecretSource | Fault {
  if ("env" in source) return variableFault(source.env, limits) ?? source;
  if ("file" in source)
    return notAllowed(
      "a secret may not be read from a file here",
      "name an environment variable: { env: NAME }",
    );
  const allowed = allowedCommand(source.command, limits);
  if ("message" in allowed) return allowed;
  const refused = (source.variables ?? []).map((name) => variableFault(name, limits)).find(Boolean);
  return refused ?? { command: allowed.run, variables: [...allowed.env, ...(source.variables ?? [])] };
}

/** The fault of a variable that belongs to others. Whether it is set is not told. */
function variableFault(name: string, { envPrefix, reserved }: ManifestLimits): Fault | undefined {
  if (envPrefix !== undefined && name.startsWith(envPrefix) && !reserved.includes(name)) return undefined;
  return notAllowed(
    `the environment variable ${name} may not be read here`,
    envPrefix === undefined
      ? "the configuration of the controller gives this tenant no variables: secrets.envPrefix"
      : `variables of this tenant begin with ${envPrefix}; those of its login at the service are not for manifests`,
  );
}

export const fileOutside: Fault = notAllowed(
  "this is not a file of the manifest's own folder",
  "keep each file in the folder itself; links may lead to files in it alone",
);
