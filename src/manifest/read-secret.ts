/** @module Reads secrets from the environment, from files and from commands. */
import { spawn } from "node:child_process";
import { GraphformError } from "../model/errors.ts";
import { codeOf, readBounded } from "./load.ts";
import type { SecretText } from "./secrets.ts";

type Environment = { readonly [name: string]: string | undefined };

/** The longest secret, in bytes. */
export const secretBytes: number = 64 * 1024;

/** The longest that a secret's command may take, in ms: long enough for a person to touch a key. */
const secretCommandMs = 60_000;

/** The reader of a run; rejects with `secret-unavailable`. The stderr of a command is dropped. `signal` kills a command that runs. */
export function secretReader(
  env: Environment,
  commandMs: number = secretCommandMs,
  signal?: AbortSignal,
): SecretText {
  return async (name, source) => {
    if ("env" in source) return fromEnvironment(name, source.env, env);
    if ("file" in source) return withoutNewline(await fromFile(name, source.file));
    const given = environmentOf(env, source.variables);
    return withoutNewline(await fromCommand(name, source.command, given, commandMs, signal));
  };
}

/** Reads secrets only to mask them, for commands that need none: runs no command, and skips what is unavailable. */
export function secretsAtHand(env: Environment): SecretText {
  const read = secretReader(env);
  return async (name, source) => {
    if ("command" in source) return undefined;
    try {
      return await read(name, source);
    } catch {
      return undefined;
    }
  };
}

/** Reads nothing: for checks that must do without secrets. */
export const noSecrets: SecretText = () => undefined;

function fromEnvironment(name: string, variable: string, env: Environment): string {
  const text = Object.hasOwn(env, variable) ? env[variable] : undefined;
  if (text !== undefined && text !== "") return text;
  const what = text === undefined ? "not set" : "empty";
  throw failed(`${name}: the environment variable ${variable} is ${what}`, `set it: export ${variable}=...`);
}

async function fromFile(name: string, path: string): Promise<string> {
  const bytes = await readBounded(path, secretBytes).catch((error: unknown) => {
    const hint = "check its path, which counts from the working directory, and its mode";
    throw failed(`${name}: the file ${path} cannot be read: ${codeOf(error) ?? "unknown error"}`, hint);
  });
  if (bytes !== undefined) return decodeText(name, bytes);
  const hint = "name a file that contains the secret alone";
  throw failed(`${name}: the file ${path} is larger than ${secretBytes} bytes`, hint);
}

/** Variables that every program needs, and those of a trace; none of them is a credential. */
const always = /^(?:PATH|HOME|LANG|LANGUAGE|LC_[A-Z]+|TRACEPARENT|TRACESTATE)$/;

/** The environment of a command: what every program needs, and the variables that are named. No other credential goes with them. */
function environmentOf(env: Environment, named: readonly string[] = []): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => always.test(name) || named.includes(name)),
  );
}

async function fromCommand(
  name: string,
  command: readonly string[],
  env: Environment,
  commandMs: number,
  stopping: AbortSignal | undefined,
): Promise<string> {
  const [program = "", ...words] = command;
  const printed = await new Promise<Uint8Array>((resolve, reject) => {
    const child = spawn(program, words, {
      shell: false,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...env },
    });
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (message: string, hint: string): void => {
      clearTimeout(timer);
      stopping?.removeEventListener("abort", onAbort);
      child.stdout.destroy();
      child.kill("SIGKILL");
      reject(failed(`${name}: the command ${program} ${message}`, hint));
    };
    const timer = setTimeout(() => {
      stop(`did not finish within ${commandMs} ms`, "run it by hand; it must not ask for anything");
    }, commandMs);
    const onAbort = (): void => stop("was interrupted", "run it again");
    stopping?.addEventListener("abort", onAbort);
    if (stopping?.aborted === true) onAbort();
    child.stdout.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > secretBytes) stop(`printed more than ${secretBytes} bytes`, "let it print the secret alone");
    });
    child.on("error", () => stop("cannot be started", "check that the program is installed and on the PATH"));
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      stopping?.removeEventListener("abort", onAbort);
      if (code === 0) resolve(Buffer.concat(chunks));
      else
        stop(
          signal === null ? `failed with exit code ${code}` : `was ended by ${signal}`,
          "run it by hand to see why; it gets PATH, HOME and the locale, and what { run: [...], env: [NAME] } names",
        );
    });
  });
  return decodeText(name, printed);
}

function decodeText(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const hint = "a secret is text; encode binary keys, for example with base64";
    throw failed(`${name}: what was read is not UTF-8 text`, hint);
  }
}

function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, "");
}

function failed(message: string, hint: string): GraphformError {
  return new GraphformError("secret-unavailable", message, { hint });
}
