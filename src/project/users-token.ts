/** @module Reads the bearer token of the users host from the environment. */
import { secretReader } from "../manifest/read-secret.ts";
import { GraphformError } from "../model/errors.ts";
import type { Settings } from "./settings.ts";

/**
 * Returns a function that reads GRAPHFORM_TOKEN, or runs GRAPHFORM_TOKEN_COMMAND on each call; undefined if neither is set.
 * Throws `users-token` if both are set, or if the command cannot be parsed. Ends a running command when `signal` is aborted.
 */
export function usersTokenOf(settings: Settings, signal: AbortSignal): (() => Promise<string>) | undefined {
  const token = settings.get("token");
  const line = settings.get("tokenCommand");
  if (line === undefined) return token === undefined ? undefined : async () => token;
  if (token !== undefined) {
    throw new GraphformError("users-token", "GRAPHFORM_TOKEN and GRAPHFORM_TOKEN_COMMAND are both set", {
      hint: "unset one of them",
    });
  }
  const command = commandOf(line);
  const read = secretReader(settings.environment(), undefined, signal);
  const variables = settings.get("tokenCommandEnv")?.split(/[\s,]+/) ?? [];
  return async () => (await read("GRAPHFORM_TOKEN_COMMAND", { command, variables })) ?? "";
}

/**
 * Parses a program with its arguments, which runs without a shell: a JSON list of strings, or words between blanks. Characters
 * that a shell would interpret are refused, because passing them on would not do what they say.
 */
function commandOf(line: string): readonly string[] {
  const text = line.trim();
  const words = text.startsWith("[") ? listed(text) : text.split(/\s+/);
  const isPlain = text.startsWith("[") || !/["'`$\\|&;<>()*?{}~#!]/.test(text);
  if (words !== undefined && words[0] !== undefined && words[0] !== "" && isPlain) return words;
  throw new GraphformError("users-token", "GRAPHFORM_TOKEN_COMMAND must be a program with plain words", {
    hint: `it runs without a shell; write words that need quotes as a JSON list: '["op", "read", "op://vault/my token"]'`,
  });
}

function listed(text: string): readonly string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isTexts(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}
