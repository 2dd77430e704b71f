/** @module Writes the configuration of a node's server. */
import { operator, usersOf } from "./acl.ts";
import type { DatabaseSpec } from "./database.ts";
import type { NodeFiles } from "./node-files.ts";
import { refusal } from "./write-permission.ts";

/** Settings of one node, besides the spec of its database. */
export interface NodeSettings {
  readonly files: NodeFiles;
  readonly port: number;
  /** Port of the primary; absent for the primary itself. */
  readonly primaryPort?: number | undefined;
  /** Path of the graph module. */
  readonly module: string;
  /** Password of the operator. */
  readonly secret: string;
  /** Loads a truncated append-only file instead of refusing it. Default false. */
  readonly loadsTruncated?: boolean;
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
    ...usersOf(spec, secret).map(({ name, rules }) => ["user", name, ...rules]),
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

/** One word of a line, quoted for the server where needed. */
function quote(word: string): string {
  if (/^[\w.,:;/|~&*+@#%()$^!?=<>[\]{}-]+$/.test(word)) return word;
  const bytes = [...Buffer.from(word)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
      ? `\\x${byte.toString(16).padStart(2, "0")}`
      : String.fromCharCode(byte),
  );
  return `"${bytes.join("")}"`;
}
