/** @module Runs the system's git: a child process without a shell, without anything of this machine's configuration, bounded in time and size. */
import { spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GraphformError } from "../../index.ts";
import { limits } from "./checkout-folder.ts";
import { type AllowedUrl, refused } from "./git-url.ts";

/** The reach of a run of git, with the header that holds its token. */
export interface GitAccess {
  /** The folder of the checkout: git's home, which is empty. */
  readonly root: string;
  /** Absent: no transport at all. */
  readonly remote?: AllowedUrl & { readonly authorization?: string };
  readonly signal: AbortSignal;
}

interface GitInput {
  readonly stdin?: string;
  readonly maxOutput?: number;
  /** Folder whose size is bounded meanwhile. */
  readonly growing?: string;
}

export function repositoryIn(root: string): string {
  return join(root, "repository.git");
}

/** Configuration of every run: nothing of the repository, of the machine or of its users is run, read or asked. */
const settings = `
protocol.allow=never core.hooksPath=/dev/null core.attributesFile=/dev/null core.excludesFile=/dev/null core.fsmonitor=false
core.symlinks=false core.bigFileThreshold=1m core.askPass= credential.helper= gc.auto=0 maintenance.auto=false
submodule.recurse=false fetch.recurseSubmodules=false fetch.unpackLimit=1 transfer.fsckObjects=true transfer.bundleURI=false
http.followRedirects=false http.lowSpeedLimit=1000 http.lowSpeedTime=30
fetch.fsck.zeroPaddedFilemode=ignore fetch.fsck.missingSpaceBeforeDate=ignore fetch.fsck.badTimezone=ignore`;

const variables = `
LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_PROTOCOL_FROM_USER=0 GIT_TERMINAL_PROMPT=0
GIT_ASKPASS=/bin/false SSH_ASKPASS=/bin/false GIT_SSH=/bin/false GIT_LFS_SKIP_SMUDGE=1 GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1`;

/** Variables of this process that git gets: none of them is a credential. */
const inherited = ["PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "TMPDIR"];

/** The environment of a run. The configuration is in it: arguments are visible to other users. */
function environmentOf({ root, remote }: GitAccess): NodeJS.ProcessEnv {
  const pairs = (text: string): string[][] =>
    text
      .trim()
      .split(/\s+/)
      .map((pair) => pair.split("="));
  const config = pairs(settings);
  if (remote !== undefined) config.push([`protocol.${remote.scheme}.allow`, "always"]);
  if (remote?.pinned !== undefined) config.push(["http.curloptResolve", resolveLine(remote.pinned)]);
  if (remote?.authorization !== undefined) {
    const header = `http.${new URL(remote.url).origin}/.extraHeader`;
    config.push([header, `Authorization: ${remote.authorization}`]);
  }
  return {
    ...Object.fromEntries(inherited.map((name) => [name, process.env[name]])),
    ...Object.fromEntries(pairs(variables)),
    ...{ HOME: root, XDG_CONFIG_HOME: root, GIT_CEILING_DIRECTORIES: tmpdir() },
    GIT_ALLOW_PROTOCOL: remote?.scheme ?? "none",
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(config.map(([key], at) => [`GIT_CONFIG_KEY_${at}`, key])),
    ...Object.fromEntries(config.map(([, value], at) => [`GIT_CONFIG_VALUE_${at}`, value])),
  };
}

function resolveLine({ host, port, addresses }: NonNullable<AllowedUrl["pinned"]>): string {
  const written = addresses.map((address) => (address.includes(":") ? `[${address}]` : address));
  return `${host}:${port}:${written.join(",")}`;
}

/**
 * Runs git beside a watcher: the pipe 3 ends when this process does, however that ends, and then so does the group. No file gets larger than
 * the limit lets it, also while this process stands still.
 */
const script = `ulimit -f "$1" 2> /dev/null; shift
  { read -r _ <&3; kill -KILL 0; } > /dev/null 2>&1 &
  exec git "$@" 3<&-`;

/** Runs git; returns its output. Throws `source-unreachable`, `source-refused` if it is too large, and the signal's reason. All that it started ends. */
export async function git(args: readonly string[], access: GitAccess, input: GitInput = {}): Promise<Buffer> {
  const { stdin, maxOutput = 1024 * 1024, growing } = input;
  access.signal.throwIfAborted();
  const options = { cwd: access.root, env: environmentOf(access), shell: false, detached: true };
  // In blocks of 512 bytes, or larger ones: the watch below comes first, and says why.
  const blocks = String(Math.ceil(limits.fetchedBytes / 512) * 2);
  const child = spawn("/bin/sh", ["-c", script, "git", blocks, ...args], {
    ...options,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  let failure: unknown;
  const end = (reason?: unknown): void => {
    failure ??= reason;
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The group has ended.
    }
  };
  const late = unreachable(`the repository did not answer within ${limits.ms / 1000} s`);
  const limit = setTimeout(() => end(late), limits.ms);
  const onAbort = (): void => end(access.signal.reason);
  access.signal.addEventListener("abort", onAbort, { once: true });
  const watch = growing === undefined ? undefined : setInterval(() => void endIfLarge(growing, end), 50);
  const chunks: Buffer[] = [];
  let size = 0;
  let words = "";
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxOutput) end(refused("the folder of the manifest, or the list of refs, is too large"));
    else chunks.push(chunk);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    words = `${words}${chunk.toString("latin1")}`.slice(-4000);
  });
  // A child that ends early closes its input.
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin ?? "");
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", () => reject(missing()));
      // The watcher holds its pipe.
      child.once("exit", () => end());
      child.once("close", resolve);
    });
    if (growing !== undefined) await endIfLarge(growing, end);
    if (failure !== undefined) throw failure;
    if (code === 127) throw missing();
    if (code !== 0) throw unreachable(`git says: ${complaintIn(words, access)}`);
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(limit);
    clearInterval(watch);
    access.signal.removeEventListener("abort", onAbort);
    end();
  }
}

async function endIfLarge(folder: string, end: (reason: unknown) => void): Promise<void> {
  let total = 0;
  for (const name of await readdir(folder).catch(() => []))
    total += await stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    );
  if (total > limits.fetchedBytes)
    end(refused(`one commit of the repository is larger than ${limits.fetchedBytes / 1024 / 1024} MB`));
}

/** The first error of git itself, cut before any text of the remote side, which may repeat the token that was sent to it. */
function complaintIn(words: string, { remote }: GitAccess): string {
  const found = words.split("\n").find((line) => /^(fatal|error):/.test(line)) ?? "nothing";
  const plain = found.replace(/[^\x20-\x7e]/g, "?").replace(/^fatal: remote error:.*/, "fatal: remote error");
  // Git quotes the address, and what it was told.
  const own = remote === undefined ? plain : plain.replace(`'${remote.url}/'`, remote.url);
  const said = own.replace(/["'].*/, "...").slice(0, 200);
  const sent = remote?.authorization?.replace("Basic ", "") ?? "";
  const token = Buffer.from(sent, "base64")
    .toString("utf8")
    .replace(/^[^:]*:/, "");
  const isRepeated = sent !== "" && (said.includes(sent) || said.includes(token));
  return isRepeated ? "an error that repeats the token" : said;
}

function unreachable(message: string): GraphformError {
  return new GraphformError("source-unreachable", message, {
    hint: "check the address, the ref and the token of the repository: git.credentials of the configuration",
  });
}

function missing(): GraphformError {
  return new GraphformError("git-missing", "git cannot be started", {
    hint: "install git on every machine with a worker",
  });
}
