/** @module Runs databases as processes on this machine. */
import { mkdir, realpath, rm } from "node:fs/promises";
import { isHalted } from "../../files/process-identity.ts";
import { inTurn } from "../in-turn.ts";
import { isReserved, putUser } from "./acl.ts";
import { bringUp } from "./bring-up.ts";
import type { Parts } from "./bring-up-node.ts";
import { type Login, ping } from "./connection.ts";
import { openFolder, saveRecord, withDataState, withPrimary } from "./database-record.ts";
import { endNode, isResponsive, type LiveNode, shownNode, stopNode } from "./live-node.ts";
import { nodeConfig, nodeIds, writeConfig } from "./node-config.ts";
import { takeSnapshot } from "./node-data.ts";
import { replicationOf, swapRoles, takesWrites } from "./replication.ts";
import { operatorLogin, type ServerProcess } from "./server-process.ts";
import {
  type DatabaseNode,
  type DatabaseSpec,
  type DatabaseUser,
  EngineError,
  type RefusedUser,
  type Renewal,
  type StartOptions,
} from "./spec.ts";

/** A running database. Its processes outlive this object and the platform; `stop` ends them. Its changes run one at a time. */
export class Database {
  readonly host: string = "127.0.0.1";
  readonly #parts: Parts;
  readonly #dir: string;
  readonly #options: StartOptions;
  #secret = "";
  #spec: DatabaseSpec;
  #nodes: readonly LiveNode[] = [];
  #trouble: Error | undefined;
  /** Additional users by name; undefined after an attempt that was not answered, since the state is not known then. */
  readonly #users: Map<string, DatabaseUser | undefined>;

  private constructor(parts: Parts, dir: string, spec: DatabaseSpec, options: StartOptions) {
    this.#parts = parts;
    this.#dir = dir;
    this.#spec = spec;
    this.#options = options;
    this.#users = new Map((spec.users ?? []).map((user) => [user.username, user]));
  }

  /** Starts or takes over the database of a folder, as `Engine.start`. */
  static async start(
    parts: Parts,
    spec: DatabaseSpec,
    signal?: AbortSignal,
    options: StartOptions = {},
  ): Promise<Database> {
    await mkdir(spec.dir, { recursive: true, mode: 0o700 });
    const path = await realpath(spec.dir);
    return inTurn(path, async () => {
      const database = new Database(parts, path, spec, options);
      const { failed } = options;
      await database.#bringUp(signal, failed === undefined ? undefined : nodeIds(spec).indexOf(failed));
      return database;
    });
  }

  /** Primary first. */
  nodes(): readonly DatabaseNode[] {
    return this.#nodes.map(shownNode);
  }

  port(): number {
    return this.#primary().port;
  }

  /** Reason why a replica does not run or is not in sync, as of the last start; undefined if all are. */
  trouble(): Error | undefined {
    return this.#trouble;
  }

  /** True if every node answers, the primary takes writes and the replicas are in sync. Never rejects. */
  async ping(): Promise<boolean> {
    if (this.#trouble !== undefined) return false;
    const answers = this.#nodes.map(async (node) => {
      const login = this.#loginOf(node);
      await ping(login);
      if (node.role === "primary") return takesWrites(login);
      return (await replicationOf(login)).get("master_link_status") === "up";
    });
    const ended = await Promise.allSettled(answers);
    return ended.every((answer) => answer.status === "fulfilled" && answer.value);
  }

  /** Nodes whose process does not run. Cheap. */
  down(): readonly DatabaseNode[] {
    return this.#nodes.filter(({ server }) => server?.isAlive() !== true).map(shownNode);
  }

  /** Nodes whose process is halted. Cheap. */
  halted(): readonly DatabaseNode[] {
    return this.#nodes
      .filter(({ server }) => server !== undefined && isHalted(server.identity))
      .map(shownNode);
  }

  /** Nodes that have been silent for seconds without being busy. Never rejects. */
  async silent(): Promise<readonly DatabaseNode[]> {
    const nodes = this.#nodes;
    const responsive = await Promise.all(nodes.map((node) => isResponsive(node, this.#loginOf(node))));
    return nodes.filter((_, at) => responsive[at] === false).map(shownNode);
  }

  /** Saves the data and ends the processes. Rejects with EngineError if the data cannot be saved; the processes keep running then. */
  stop(): Promise<void> {
    return this.#inTurn(async () => {
      const ends = this.#nodes.map((node) => stopNode(node, this.#loginOf(node)));
      const failed = (await Promise.allSettled(ends)).find((end) => end.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    });
  }

  /** Restarts nodes that ended or do not answer, on their ports, as `Engine.start`. Resolves at once if all run. */
  revive(signal?: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      if (!(await this.ping())) await this.#bringUp(signal);
    });
  }

  /** True if the database has exactly these users. A refused user counts as applied: another attempt changes nothing. */
  hasUsers(users: readonly DatabaseUser[]): boolean {
    return (
      users.length === this.#users.size && users.every((user) => this.#users.get(user.username) === user)
    );
  }

  /**
   * Applies exactly these users to every running node and configuration. Resolves with the refused users, whose previous rules
   * stay in force. Rejects if the database does not answer.
   */
  applyUsers(users: readonly DatabaseUser[]): Promise<readonly RefusedUser[]> {
    return this.#inTurn(async () => {
      const refused: RefusedUser[] = [];
      for (const name of [...this.#users.keys()]) {
        if (users.some(({ username }) => username === name)) continue;
        await this.#putUser(name, undefined);
        this.#users.delete(name);
      }
      for (const user of users) {
        const { username } = user;
        if (this.#users.get(username) === user) continue;
        this.#users.set(username, undefined);
        try {
          await this.#putUser(username, user);
        } catch (error) {
          if (!(error instanceof EngineError && error.code === "user-refused")) throw error;
          refused.push({ username, reason: error.message });
        }
        this.#users.set(username, user);
      }
      return refused;
    });
  }

  /**
   * Treats a node, by default the primary, as failed, and then carries out the action on it. A primary swaps roles with its
   * replica: no write is lost; without a replica in sync it rejects with EngineError and changes nothing. A silent primary is
   * first ended and started again, as by `Engine.start` with it as `failed`.
   */
  failover(failed?: string, then?: Renewal): Promise<void> {
    return this.#inTurn(async () => {
      const [primary, replica] = this.#nodes;
      if (primary === undefined || replica === undefined)
        throw new EngineError("engine-refused", "there is no replica that a failover could promote");
      const node = this.#nodes.find(({ files }) => files.id === (failed ?? primary.files.id));
      if (node === undefined) throw new EngineError("engine-refused", `there is no node ${failed}`);
      if (node === primary) await this.#replacePrimary(primary);
      if (then !== undefined) await this.#renew(node, then);
    });
  }

  /** Writes the current data to a file, completely or not at all. Rejects with EngineError if the server cannot save. */
  snapshot(file: string): Promise<void> {
    return this.#inTurn(() => takeSnapshot(this.#primary().files, this.#loginOf(this.#primary()), file));
  }

  /** Swaps the roles. A primary that does not answer is ended and started again before, with its data. */
  async #replacePrimary(failed: LiveNode): Promise<void> {
    if (!(await isResponsive(failed, this.#loginOf(failed)))) {
      await endNode(failed.files.folder, 0); // It may answer again later, and must not take writes then.
      await this.#bringUp(undefined, failed.index);
    }
    if (this.#primary().index !== failed.index || this.#nodes.length < 2) return;
    await this.#swap();
    await this.#bringUp();
  }

  /** Swaps primary and replica and records the new primary. Rejects as `swapRoles` does. */
  async #swap(): Promise<void> {
    const [primary, replica] = this.#nodes;
    if (primary === undefined || replica === undefined) return;
    await swapRoles(this.#loginOf(primary), this.#loginOf(replica), async (isReplica) => {
      const { record } = await openFolder(this.#dir, nodeIds(this.#spec));
      await saveRecord(this.#dir, withPrimary(record, isReplica ? replica.index : primary.index));
    });
  }

  /** Restarts a node, or removes its data so that it copies them from the primary. Never done to the only node that has the data. */
  async #renew(node: LiveNode, then: Renewal): Promise<void> {
    const now = this.#nodes.find(({ index }) => index === node.index);
    if (now === undefined || now.role === "primary") return;
    if (then === "recreate" && !(await takesWrites(this.#loginOf(this.#primary()))))
      throw new EngineError("engine-refused", "the primary does not serve; nothing was removed");
    await stopNode(now, this.#loginOf(now));
    if (then === "recreate") {
      const { record } = await openFolder(this.#dir, nodeIds(this.#spec));
      await saveRecord(this.#dir, withDataState(record, now.index, "none"));
      await rm(now.files.data, { recursive: true, force: true });
    }
    await this.#bringUp();
  }

  async #bringUp(signal?: AbortSignal, failed?: number): Promise<void> {
    const folder = await openFolder(this.#dir, nodeIds(this.#spec));
    this.#secret = folder.record.secret;
    const before = this.#nodes;
    const ports = before.toSorted((a, b) => a.index - b.index).map(({ port }) => port);
    const spec = { ...this.#spec, ...(before.length === 0 ? {} : { ports }) };
    const { notify = () => undefined } = this.#options;
    const task = { parts: this.#parts, spec, folder, signal, failed, notify };
    const { nodes, trouble, isBack } = await bringUp(task);
    this.#nodes = nodes;
    this.#trouble = trouble;
    for (const { server } of nodes)
      if (server !== undefined && !before.some((node) => node.server === server)) void this.#watch(server);
    // Clients know the endpoint of the former primary, so the roles are swapped back. If that fails, they stay.
    if (isBack)
      await this.#swap()
        .then(() => this.#bringUp(signal))
        .catch(() => undefined);
  }

  async #watch(server: ServerProcess): Promise<void> {
    await server.ended;
    const node = this.#nodes.find((live) => live.server === server);
    if (!server.isExitExpected && node !== undefined) this.#options.onExit?.(shownNode(node));
  }

  /** Applies a user to every running node and every configuration; undefined removes it. Restores all of them if that fails. */
  async #putUser(username: string, user: DatabaseUser | undefined): Promise<void> {
    const before = this.#spec;
    if (isReserved(username, before)) {
      if (user === undefined) return;
      throw new EngineError("user-refused", `user ${username} belongs to the database itself`);
    }
    const { users = [] } = before;
    const others = users.filter((other) => other.username !== username);
    try {
      this.#spec = { ...before, users: user === undefined ? others : [...others, user] };
      await this.#configure();
      for (const node of this.#nodes)
        if (node.server?.isAlive() === true) await putUser(this.#loginOf(node), username, user);
    } catch (error) {
      this.#spec = before;
      const known = users.find((other) => other.username === username);
      for (const node of this.#nodes)
        await putUser(this.#loginOf(node), username, known).catch(() => undefined);
      await this.#configure().catch(() => undefined);
      throw error;
    }
  }

  /** Writes the configuration of every node, for its next start. */
  async #configure(): Promise<void> {
    const fixed = { module: this.#parts.module, secret: this.#secret };
    for (const { files, port, role } of this.#nodes) {
      const settings = { ...fixed, files, port, ...(role === "replica" ? { primaryPort: this.port() } : {}) };
      await writeConfig(files, nodeConfig(this.#spec, settings));
    }
  }

  #primary(): LiveNode {
    const [primary] = this.#nodes;
    if (primary === undefined) throw new EngineError("engine-refused", "the database does not run");
    return primary;
  }

  #loginOf(node: LiveNode): Login {
    return operatorLogin(node.port, this.#secret, this.#spec.tls);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return inTurn(this.#dir, work);
  }
}
