import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Where one node of a database keeps its things. */
export interface NodeFiles {
  readonly id: string;
  readonly folder: string;
  /** The only argument of a node's server. */
  readonly config: string;
  readonly log: string;
  readonly pid: string;
  readonly data: string;
}

/** Files of node number `index` in a database's folder. */
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

/** Writes a node's configuration for its owner only, in one step; what stands there already needs no room on the disk. */
export async function writeConfig({ config }: NodeFiles, text: string): Promise<void> {
  if ((await readFile(config, "utf8").catch(() => undefined)) === text) return;
  await writeFile(`${config}.new`, text, { mode: 0o600 });
  await rename(`${config}.new`, config);
}

/** The port that a node's configuration names; undefined where there is none. */
export async function configuredPort({ config }: NodeFiles): Promise<number | undefined> {
  const text = await readFile(config, "utf8").catch(() => "");
  const [, port] = /^(?:tls-)?port ([1-9]\d*)$/m.exec(text) ?? [];
  return port === undefined ? undefined : Number(port);
}
