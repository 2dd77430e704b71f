import { mkdir, realpath } from "node:fs/promises";
import { type AclUser, additional, isReserved, tenant } from "./acl.ts";
import { bringUp, type Parts } from "./bring-up.ts";
import { isRefusal, type Login, ping, talk } from "./connection.ts";
import type { Database, DatabaseNode, DatabaseSpec, DatabaseUser } from "./database.ts";
import { openFolder, saveRecord } from "./database-record.ts";
import { EngineError } from "./engine-error.ts";
import { swapRoles } from "./failover.ts";
import { inTurn } from "./in-turn.ts";
import { operatorLogin } from "./launch.ts";
import { type LiveNode, shownNode } from "./live-node.ts";
import { nodeConfig } from "./node-config.ts";
import { writeConfig } from "./node-files.ts";
import { follow, replicationOf } from "./replication.ts";
import { endingOnPurpose, type ServerProcess } from "./server-process.ts";
import { shutDown } from "./shut-down.ts";
import { takeSnapshot } from "./snapshot.ts";

/** A database of processes on this machine. What changes it is done one at a time. */
export class LocalDatabase implements Database {
  readonly host = "127.0.0.1";
  readonly #parts: Parts;
  readonly #dir: string;
  readonly #secret: string;
  #spec: DatabaseSpec;
  #nodes: readonly LiveNode[] = [];
  /** Processes that ended without being asked to. */
  readonly #lost = new Set<ServerProcess>();
  readonly #listeners: ((node: DatabaseNode) => void)[] = [];

  private constructor(parts: Parts, dir: string, secret: string, spec: DatabaseSpec) {
    this.#parts = parts;
    this.#dir = dir;
    this.#secret = secret;
    this.#spec = spec;
  }

  /** Starts or takes over the database of a folder; `Engine.start`. */
  static async start(parts: Parts, spec: DatabaseSpec, signal?: AbortSignal): Promise<LocalDatabase> {
    await mkdir(spec.dir, { recursive: true, mode: 0o700 });
    const path = await realpath(spec.dir);
    return inTurn(path, async () => {
      const { dir, record } = await openFolder(path, spec.nodes);
      const database = new LocalDatabase(parts, dir, record.secret, spec);
      await database.#bringUp(signal);
      return database;
    });
  }

  nodes(): readonly DatabaseNode[] {
    return this.#nodes.map(shownNode);
  }

  port(): number {
    return this.#primary().port;
  }

  async ping(): Promise<boolean> {
    const answers = this.#nodes.map(async (node) => {
      await ping(this.#login(node));
      return (
        node.role === "primary" || (await replicationOf(this.#login(node))).get("master_link_status") === "up"
      );
    });
    return (await Promise.allSettled(answers)).every(
      (answer) => answer.status === "fulfilled" && answer.value,
    );
  }

  stop(): Promise<void> {
    return this.#inTurn(() =>
      endingOnPurpose(`${this.#dir}/node-`, async () => {
        const ends = this.#nodes.map(({ server, port }) =>
          shutDown(server.files, server.pid, this.#loginTo(port)),
        );
        const failed = (await Promise.allSettled(ends)).find((end) => end.status === "rejected");
        if (failed !== undefined) throw failed.reason;
      }),
    );
  }

  revive(signal?: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#nodes.every(({ server }) => server.isAlive())) return;
      await this.#bringUp(signal);
    });
  }

  setPassword(password: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#tell(tenant(this.#spec.user, password));
      await this.#remember({ ...this.#spec, password });
    });
  }

  setUser(user: DatabaseUser): Promise<void> {
    return this.#inTurn(async () => {
      refuseReserved(user.username, this.#spec);
      await this.#tell(additional(user));
      await this.#remember({ ...this.#spec, users: [...this.#without(user.username), user] });
    });
  }

  removeUser(username: string): Promise<void> {
    return this.#inTurn(async () => {
      refuseReserved(username, this.#spec);
      for (const node of this.#nodes) await talk(this.#login(node), (ask) => ask("ACL", "DELUSER", username));
      await this.#remember({ ...this.#spec, users: this.#without(username) });
    });
  }

  failover(): Promise<void> {
    return this.#inTurn(async () => {
      const [primary, replica] = this.#nodes;
      if (primary === undefined || replica === undefined) {
        throw new EngineError("engine-refused", "there is no replica that a failover could promote");
      }
      const { record } = await openFolder(this.#dir, this.#spec.nodes);
      const decide = (isReplica: boolean): Promise<void> =>
        saveRecord(this.#dir, { ...record, primary: isReplica ? replica.index : primary.index });
      await swapRoles(this.#login(primary), this.#login(replica), decide);
      this.#nodes = [
        { ...replica, role: "primary" },
        { ...primary, role: "replica" },
      ];
      await this.#remember(this.#spec);
      if (primary.server.isAlive()) await follow(this.#login(primary), this.#login(replica));
    });
  }

  snapshot(file: string): Promise<void> {
    return this.#inTurn(() => takeSnapshot(this.#primary().server.files, this.#login(this.#primary()), file));
  }

  onExit(listener: (node: DatabaseNode) => void): void {
    this.#listeners.push(listener);
    for (const node of this.#nodes) if (this.#lost.has(node.server)) listener(shownNode(node));
  }

  async #bringUp(signal: AbortSignal | undefined): Promise<void> {
    const folder = await openFolder(this.#dir, this.#spec.nodes);
    const ports = this.#nodes.length === 0 ? {} : { ports: byIndex(this.#nodes) };
    const before = new Map(this.#nodes.map((node) => [node.server.pid, node.server]));
    const live = await bringUp(this.#parts, { ...this.#spec, ...ports }, folder, signal);
    // A process that runs on stays the object that is being watched already.
    this.#nodes = live.map((node) => ({ ...node, server: before.get(node.server.pid) ?? node.server }));
    for (const node of this.#nodes) {
      if (!before.has(node.server.pid)) void this.#watch(node);
    }
  }

  /** Waits for the end of a node's process, and tells of it where nobody wanted it. */
  async #watch({ server }: LiveNode): Promise<void> {
    await server.ended;
    if (server.isUnwanted) return;
    this.#lost.add(server);
    const node = this.#nodes.find((each) => each.server === server);
    if (node !== undefined) for (const listener of this.#listeners) listener(shownNode(node));
  }

  /** Tells every node of a user. */
  async #tell({ name, rules }: AclUser): Promise<void> {
    for (const node of this.#nodes) {
      try {
        await talk(this.#login(node), (ask) => ask("ACL", "SETUSER", name, ...rules));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        throw new EngineError("engine-refused", `user ${name}: ${error.message.replace(/^ERR /, "")}`);
      }
    }
  }

  /** Writes the configuration as it is in force now, so that the next start finds the same. */
  async #remember(spec: DatabaseSpec): Promise<void> {
    this.#spec = spec;
    const { module } = this.#parts;
    for (const { server, port, role } of this.#nodes) {
      const primaryPort = role === "replica" ? this.port() : undefined;
      const settings = { files: server.files, port, primaryPort, module, secret: this.#secret };
      await writeConfig(server.files, nodeConfig(spec, settings));
    }
  }

  #without(username: string): readonly DatabaseUser[] {
    return (this.#spec.users ?? []).filter((user) => user.username !== username);
  }

  #primary(): LiveNode {
    const [primary] = this.#nodes;
    if (primary === undefined) throw new EngineError("engine-refused", "the database does not run");
    return primary;
  }

  #login(node: LiveNode): Login {
    return this.#loginTo(node.port);
  }

  #loginTo(port: number): Login {
    return operatorLogin(port, this.#secret, this.#spec.tls);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return inTurn(this.#dir, work);
  }
}

function byIndex(nodes: readonly LiveNode[]): readonly number[] {
  return nodes.toSorted((a, b) => a.index - b.index).map(({ port }) => port);
}

function refuseReserved(name: string, spec: DatabaseSpec): void {
  if (isReserved(name, spec))
    throw new EngineError("engine-refused", `user ${name} belongs to the database itself`);
}
