/** @module Checks that a file is a usable database server. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** A server program with its version and environment. */
export interface ServerProgram {
  readonly file: string;
  readonly name: "valkey" | "redis";
  readonly version: string;
  /** The complete environment of its processes. */
  readonly env: { readonly [name: string]: string };
}

const oldest = [7, 2] as const;

/** Runs `--version` with additional folders for shared libraries. Resolves with the program, or with the reason why it cannot be used. */
export async function askProgram(
  file: string,
  libraries: readonly string[] = [],
): Promise<ServerProgram | string> {
  const folders = [...libraries, ...(process.env["LD_LIBRARY_PATH"] ?? "").split(":")].filter(
    (folder) => folder !== "",
  );
  const env = {
    PATH: "/usr/bin:/bin",
    LC_ALL: "C.UTF-8",
    ...(folders.length > 0 ? { LD_LIBRARY_PATH: folders.join(":") } : {}),
  };
  try {
    const { stdout } = await promisify(execFile)(file, ["--version"], { env, timeout: 10_000 });
    return programOf(file, stdout, env);
  } catch (error) {
    return `does not run here: ${reasonOf(error)}`;
  }
}

function programOf(file: string, text: string, env: ServerProgram["env"]): ServerProgram | string {
  const [, name, version] = /^(valkey|redis) server v=(\S+)/i.exec(text) ?? [];
  if (name === undefined || version === undefined) return "is no valkey or redis server";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
    return `is ${name} ${version}; the graph module needs ${oldest.join(".")} or newer`;
  }
  return { file, name: name.toLowerCase() === "valkey" ? "valkey" : "redis", version, env };
}

/** The missing part, as the loader or the system reports it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && error.code === "ENOENT") return "there is no such file";
  if ("code" in error && error.code === "EACCES") return "it may not be executed";
  const stderr = "stderr" in error && typeof error.stderr === "string" ? error.stderr : "";
  const [, version] = /version `(GLIBC_[\w.]{1,20})' not found/.exec(stderr) ?? [];
  const [, library] = /loading shared libraries: ([^:\s]{1,99}):/.exec(stderr) ?? [];
  const lacking = version ?? library;
  return lacking === undefined ? (error.message.split("\n")[0] ?? "") : `this machine lacks ${lacking}`;
}
