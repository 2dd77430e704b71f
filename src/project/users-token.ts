import { secretReader } from "../manifest/read-secret.ts";
import { GraphformError } from "../model/errors.ts";
import { setting } from "./setting.ts";

/**
 * The bearer token of the users host that the environment gives: GRAPHFORM_TOKEN, or what GRAPHFORM_TOKEN_COMMAND prints
 * each time a token is needed; undefined where neither is set. Throws `users-token` where both are, or where the command
 * is not to be understood. A command that still runs when `signal` is aborted is ended.
 */
export function usersTokenOf(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): (() => Promise<string>) | undefined {
  const token = setting(env, "GRAPHFORM_TOKEN");
  const line = setting(env, "GRAPHFORM_TOKEN_COMMAND");
  if (line === undefined) return token === undefined ? undefined : async () => token;
  if (token !== undefined) {
    throw new GraphformError("users-token", "GRAPHFORM_TOKEN and GRAPHFORM_TOKEN_COMMAND are both set", {
      hint: "unset one of them",
    });
  }
  const command = commandOf(line);
  const read = secretReader(env, undefined, signal);
  return async () => (await read("GRAPHFORM_TOKEN_COMMAND", { command })) ?? "";
}

/**
 * A program with its words, run without a shell: a JSON list of strings, or words between blanks. What a shell would give
 * a meaning to is refused rather than passed on as it stands.
 */
function commandOf(line: string): readonly string[] {
  const text = line.trim();
  const words = text.startsWith("[") ? listed(text) : text.split(/\s+/);
  const isPlain = text.startsWith("[") || !/["'`$\\|&;<>()*?{}~#!]/.test(text);
  if (words !== undefined && words[0] !== undefined && words[0] !== "" && isPlain) return words;
  throw new GraphformError("users-token", "GRAPHFORM_TOKEN_COMMAND is no program with plain words", {
    hint: `no shell reads it; write words that need quotation as a JSON list: '["op", "read", "op://vault/my token"]'`,
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
