/** @module Locates the files of a node. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Paths of one node's files. */
export interface NodeFiles {
  readonly id: string;
  readonly folder: string;
  /** Path of the configuration, the only argument of the node's server. */
  readonly config: string;
  readonly log: string;
  readonly pid: string;
  readonly data: string;
}

/** Paths of node `index` in a database's folder. */
export function nodeFiles(dir: string, index: number): NodeFiles {
  const id = `node-${index}`;
  const folder = join(dir, id);
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

/** The port in a node's configuration; undefined without one. */
export async function configuredPort({ config }: NodeFiles): Promise<number | undefined> {
  const text = await readFile(config, "utf8").catch(() => "");
  const [, port] = /^(?:tls-)?port ([1-9]\d*)$/m.exec(text) ?? [];
  return port === undefined ? undefined : Number(port);
}
