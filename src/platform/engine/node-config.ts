/** @module Locates the files of a node and writes the configuration of its server. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { operator, usersOf } from "./acl.ts";
import { refusal } from "./replication.ts";
import type { DatabaseSpec } from "./spec.ts";

export interface NodeFiles {
  readonly id: string;
  readonly folder: string;
  /** Path of the configuration, the only argument of the node's server. */
  readonly config: string;
  readonly log: string;
  readonly pid: string;
  readonly data: string;
}

export function nodeIds({ ids, nodes }: DatabaseSpec): readonly string[] {
  return ids ?? Array.from({ length: nodes }, (_, index) => `node-${index}`);
}

export function nodeFiles(dir: string, index: number, id: string): NodeFiles {
  const folder = join(dir, `node-${index}`);
  return {
    id,
    folder,
    config: join(folder, "server.conf"),
    log: join(folder, "server.log"),
    pid: join(folder, "server.pid"),
    data: join(folder, "data"),
  };
}

/** Writes the configuration with mode 0600, atomically. An unchanged one is not written, so that a full disk does not matter. */
export async function writeConfig({ config }: NodeFiles, text: string): Promise<void> {
  if ((await readFile(config, "utf8").catch(() => undefined)) === text) return;
  await writeFile(`${config}.new`, text, { mode: 0o600 });
  await rename(`${config}.new`, config);
}

export async function configuredPort({ config }: NodeFiles): Promise<number | undefined> {
  const text = await readFile(config, "utf8").catch(() => "");
  const [, port] = /^(?:tls-)?port ([1-9]\d*)$/m.exec(text) ?? [];
  return port === undefined ? undefined : Number(port);
}

export interface NodeRole {
  /** Port of the primary; absent for the primary itself. */
  readonly primaryPort?: number;
  /** Loads a truncated append-only file instead of refusing it. Default false. */
  readonly loadsTruncated?: boolean;
}

export interface NodeSettings extends NodeRole {
  readonly files: NodeFiles;
  readonly port: number;
  readonly module: string;
  /** Password of the operator. */
  readonly secret: string;
}

/** Save rules by frequency: seconds and changes, in pairs. */
const saveRules = {
  low: ["86400", "1", "21600", "100", "3600", "10000"],
  medium: ["21600", "1", "3600", "100", "300", "10000"],
  high: ["3600", "1", "300", "100", "60", "10000"],
};

/** The text of the configuration file. It contains the operator's password: mode 0600. */
export function nodeConfig(spec: DatabaseSpec, settings: NodeSettings): string {
  const { files, primaryPort, secret } = settings;
  const parameters = Object.entries(spec.parameters).flatMap(([name, value]) => [name, String(value)]);
  const lines: readonly (readonly string[])[] = [
    ["bind", "127.0.0.1"],
    ...listening(spec, settings.port),
    // The process list must keep showing the path of this file: the process is found by it and by its folder.
    ["set-proc-title", "no"],
    ["daemonize", "no"],
    ["logfile", ""],
    ["pidfile", files.pid],
    ["dir", files.data],
    ["dbfilename", "dump.rdb"],
    ["save", ...(spec.rdb === undefined ? [""] : saveRules[spec.rdb])],
    ["shutdown-on-sigterm", "save"],
    // Waiting for replicas pauses writes, and a query of the module in progress then crashes the server.
    ["shutdown-timeout", "0"],
    ["appendonly", spec.aof === undefined ? "no" : "yes"],
    ["appendfsync", spec.aof ?? "everysec"],
    ["aof-load-truncated", settings.loadsTruncated === true ? "yes" : "no"],
    // With an append-only file, a failed backup must not make the database refuse writes.
    ["stop-writes-on-bgsave-error", spec.aof === undefined ? "yes" : "no"],
    refusal,
    ["maxmemory", String(spec.maxMemoryBytes ?? 0)],
    ["maxmemory-policy", "noeviction"],
    // Without this, a new replica waits 5 s for its first copy.
    ["repl-diskless-sync", "yes"],
    ["repl-diskless-sync-delay", "0"],
    ["masteruser", operator],
    ["masterauth", secret],
    ...(primaryPort === undefined ? [] : [["replicaof", "127.0.0.1", String(primaryPort)]]),
    ...usersOf(spec, secret).map((user) => ["user", ...user]),
    ["loadmodule", settings.module, ...parameters],
  ];
  return lines.map((line) => `${line.map(quote).join(" ")}\n`).join("");
}

/** A configuration without the role of the node, which changes while it runs. */
export function withoutRole(config: string): string {
  return config.replace(/^replicaof .*\n/m, "");
}

function listening(spec: DatabaseSpec, port: number): readonly (readonly string[])[] {
  if (spec.tls === undefined) return [["port", String(port)]];
  return [
    ["port", "0"],
    ["tls-port", String(port)],
    ["tls-cert-file", spec.tls.certFile],
    ["tls-key-file", spec.tls.keyFile],
    ["tls-ca-cert-file", spec.tls.caFile],
    ["tls-auth-clients", "no"],
    ["tls-replication", "yes"],
  ];
}

function quote(word: string): string {
  if (/^[\w.,:;/|~&*+@#%()$^!?=<>[\]{}-]+$/.test(word)) return word;
  const bytes = [...Buffer.from(word)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
      ? `\\x${byte.toString(16).padStart(2, "0")}`
      : String.fromCharCode(byte),
  );
  return `"${bytes.join("")}"`;
}
