/** @module Runs a database as processes on this machine. */
import { mkdir, realpath } from "node:fs/promises";
import { inTurn } from "../in-turn.ts";
import { additional, changeTo, putUser, refuseReserved, tenant, type UserChange } from "./acl.ts";
import { bringUp } from "./bring-up.ts";
import type { Parts } from "./bring-up-node.ts";
import type { Login } from "./connection.ts";
import type {
  Database,
  DatabaseNode,
  DatabaseSpec,
  DatabaseUser,
  Renewal,
  StartOptions,
} from "./database.ts";
import { openFolder } from "./database-record.ts";
import { EngineError } from "./engine-error.ts";
import { emptyNode, swapNodes } from "./failover.ts";
import { operatorLogin } from "./launch.ts";
import { type LiveNode, portsOf, shownNode } from "./live-node.ts";
import { nodeConfig } from "./node-config.ts";
import { writeConfig } from "./node-files.ts";
import { areHealthy, downNodes, haltedNodes, isResponsive, silentNodes } from "./node-health.ts";
import type { ServerProcess } from "./server-process.ts";
import { endNode, stopNode } from "./shut-down.ts";
import { takeSnapshot } from "./snapshot.ts";
import { takesWrites } from "./write-permission.ts";

/** A database of local processes. Its changes run one at a time. */
export class LocalDatabase implements Database {
  readonly host = "127.0.0.1";
  readonly #parts: Parts;
  readonly #dir: string;
  readonly #notify: (what: string) => void;
  #secret = "";
  #spec: DatabaseSpec;
  #nodes: readonly LiveNode[] = [];
  #trouble: Error | undefined;
  /** Processes that ended unexpectedly. */
  readonly #lost = new Set<ServerProcess>();
  readonly #listeners: ((node: DatabaseNode) => void)[] = [];

  private constructor(parts: Parts, dir: string, spec: DatabaseSpec, notify: (what: string) => void) {
    this.#parts = parts;
    this.#dir = dir;
    this.#spec = spec;
    this.#notify = notify;
  }

  /** Starts or takes over the database of a folder, as `Engine.start`. */
  static async start(
    parts: Parts,
    spec: DatabaseSpec,
    signal?: AbortSignal,
    { failed, notify = () => undefined }: StartOptions = {},
  ): Promise<LocalDatabase> {
    await mkdir(spec.dir, { recursive: true, mode: 0o700 });
    const path = await realpath(spec.dir);
    return inTurn(path, async () => {
      const database = new LocalDatabase(parts, path, spec, notify);
      await database.#bringUp(
        signal,
        failed === undefined ? undefined : Number(failed.slice("node-".length)),
      );
      return database;
    });
  }

  nodes(): readonly DatabaseNode[] {
    return this.#nodes.map(shownNode);
  }

  port(): number {
    return this.#primary().port;
  }

  trouble(): Error | undefined {
    return this.#trouble;
  }

  async ping(): Promise<boolean> {
    return this.#trouble === undefined && areHealthy(this.#nodes, this.#loginOf);
  }

  down(): readonly DatabaseNode[] {
    return downNodes(this.#nodes);
  }

  halted(): readonly DatabaseNode[] {
    return haltedNodes(this.#nodes);
  }

  silent(): Promise<readonly DatabaseNode[]> {
    return silentNodes(this.#nodes, this.#loginOf);
  }

  stop(): Promise<void> {
    return this.#inTurn(async () => {
      const ends = this.#nodes.map((node) => stopNode(node, this.#loginOf(node)));
      const failed = (await Promise.allSettled(ends)).find((end) => end.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    });
  }

  revive(signal?: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      if (await this.ping()) return;
      await this.#bringUp(signal);
    });
  }

  setPassword(password: string): Promise<void> {
    return this.#inTurn(() =>
      this.#change(
        { ...this.#spec, password },
        tenant(this.#spec.user, password),
        tenant(this.#spec.user, this.#spec.password),
      ),
    );
  }

  setUser(user: DatabaseUser): Promise<void> {
    return this.#inTurn(async () => {
      refuseReserved(user.username, this.#spec);
      const users = [...this.#without(user.username), user];
      await this.#change({ ...this.#spec, users }, additional(user), changeTo(this.#spec, user.username));
    });
  }

  removeUser(username: string): Promise<void> {
    return this.#inTurn(async () => {
      refuseReserved(username, this.#spec);
      const next = { ...this.#spec, users: this.#without(username) };
      await this.#change(next, { name: username, rules: undefined }, changeTo(this.#spec, username));
    });
  }

  failover(failed?: string, then?: Renewal): Promise<void> {
    return this.#inTurn(async () => {
      const [primary, replica] = this.#nodes;
      if (primary === undefined || replica === undefined) {
        throw new EngineError("engine-refused", "there is no replica that a failover could promote");
      }
      const node = this.#nodes.find(({ files }) => files.id === (failed ?? primary.files.id));
      if (node === undefined) throw new EngineError("engine-refused", `there is no node ${failed}`);
      if (node === primary) await this.#replacePrimary(primary);
      if (then !== undefined) await this.#renew(node, then);
    });
  }

  snapshot(file: string): Promise<void> {
    return this.#inTurn(() => takeSnapshot(this.#primary().files, this.#loginOf(this.#primary()), file));
  }

  onExit(listener: (node: DatabaseNode) => void): void {
    this.#listeners.push(listener);
    for (const node of this.#nodes)
      if (node.server !== undefined && this.#lost.has(node.server)) listener(shownNode(node));
  }

  /** Swaps the roles. A primary that does not answer is ended and started again before, with its data. */
  async #replacePrimary(failed: LiveNode): Promise<void> {
    if (!(await isResponsive(failed, this.#loginOf(failed)))) {
      await endNode(failed.files.folder, 0); // It may answer again later, and must not take writes then.
      await this.#bringUp(undefined, failed.index);
    }
    const [primary, replica] = this.#nodes;
    if (primary?.index !== failed.index || replica === undefined) return;
    await swapNodes(this.#dir, [primary, replica], this.#loginOf);
    await this.#bringUp();
  }

  /** Restarts a node, or removes its data so that it copies them from the primary. Never done to the only node that has the data. */
  async #renew(node: LiveNode, then: Renewal): Promise<void> {
    const now = this.#nodes.find(({ index }) => index === node.index);
    if (now === undefined || now.role === "primary") return;
    if (then === "recreate" && !(await takesWrites(this.#loginOf(this.#primary())))) {
      throw new EngineError("engine-refused", "the primary does not serve; nothing was removed");
    }
    await stopNode(now, this.#loginOf(now));
    if (then === "recreate") await emptyNode(this.#dir, this.#spec.nodes, now);
    await this.#bringUp();
  }

  async #bringUp(signal?: AbortSignal, failed?: number): Promise<void> {
    const folder = await openFolder(this.#dir, this.#spec.nodes);
    this.#secret = folder.record.secret;
    const before = new Set(this.#nodes.map(({ server }) => server));
    const spec = { ...this.#spec, ...(this.#nodes.length === 0 ? {} : { ports: portsOf(this.#nodes) }) };
    const task = { parts: this.#parts, spec, folder, signal, failed, notify: this.#notify };
    const { nodes, trouble, isBack } = await bringUp(task);
    this.#nodes = nodes;
    this.#trouble = trouble;
    for (const { server } of nodes) if (server !== undefined && !before.has(server)) void this.#watch(server);
    const [primary, replica] = nodes;
    if (!isBack || primary === undefined || replica === undefined) return;
    // Clients know the endpoint of the former primary, so the roles are swapped back. Where that fails, they stay.
    const swapped = swapNodes(this.#dir, [primary, replica], this.#loginOf).then(() => this.#bringUp(signal));
    await swapped.catch(() => undefined);
  }

  /** Waits for the end of a node's process, and reports an unexpected one. */
  async #watch(server: ServerProcess): Promise<void> {
    await server.ended;
    if (server.isExitExpected) return;
    this.#lost.add(server);
    const node = this.#nodes.find((live) => live.server === server);
    if (node !== undefined) for (const listener of this.#listeners) listener(shownNode(node));
  }

  /** Applies a user to every running node and to every configuration, or restores all of them. */
  async #change(spec: DatabaseSpec, user: UserChange, before: UserChange): Promise<void> {
    try {
      await this.#configure(spec);
      for (const node of this.#nodes)
        if (node.server?.isAlive() === true) await putUser(this.#loginOf(node), user);
    } catch (error) {
      for (const node of this.#nodes) await putUser(this.#loginOf(node), before).catch(() => undefined);
      await this.#configure(this.#spec).catch(() => undefined);
      throw error;
    }
    this.#spec = spec;
  }

  /** Writes the configuration of every node, for its next start. */
  async #configure(spec: DatabaseSpec): Promise<void> {
    const fixed = { module: this.#parts.module, secret: this.#secret };
    for (const { files, port, role } of this.#nodes) {
      const settings = { ...fixed, files, port, ...(role === "replica" ? { primaryPort: this.port() } : {}) };
      await writeConfig(files, nodeConfig(spec, settings));
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

  readonly #loginOf = (node: LiveNode): Login => operatorLogin(node.port, this.#secret, this.#spec.tls);

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return inTurn(this.#dir, work);
  }
}
