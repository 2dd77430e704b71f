/** @module Finds the server that already runs over a node's data. */
import { isRunning, type PinnedProcess } from "../../files/process-identity.ts";
import { ping } from "./connection.ts";
import type { DatabaseNode, DatabaseSpec } from "./database.ts";
import { operatorLogin } from "./launch.ts";
import { configuredPort, type NodeFiles } from "./node-files.ts";
import { replicationOf } from "./replication.ts";
import { expectingExit } from "./server-process.ts";
import { serversOf } from "./server-processes.ts";
import { endNode, shutDown } from "./shut-down.ts";
import { untilServing } from "./until-serving.ts";
import { takesWrites } from "./write-permission.ts";

/** A node that runs and answers. */
export interface Running {
  readonly server: PinnedProcess;
  readonly port: number;
  readonly role: DatabaseNode["role"];
  /** It is permitted to take writes: it was found to be primary, with its data, before. */
  readonly takesWrites: boolean;
  /** True where the tenant's password is that of the spec. */
  readonly hasTenantPassword: boolean;
  /** Saves its data and ends it. */
  end(): Promise<void>;
}

/** Time without an answer after which a node is ended, in ms. */
const silenceLimit = 5000;

/**
 * The server over a node's data, if it answers the operator. Any other process over the data is ended: a silent server, and a forked
 * child that outlived its server and still writes.
 */
export async function findRunning(
  files: NodeFiles,
  secret: string,
  spec: DatabaseSpec,
  signal?: AbortSignal,
): Promise<Running | undefined> {
  const found = serversOf(files.folder);
  const servers = found.filter(({ isChild }) => !isChild);
  const [server] = servers;
  if (server === undefined || servers.length > 1) return ended(files);
  const login = operatorLogin((await configuredPort(files)) ?? 0, secret, spec.tls);
  try {
    if (!(await untilServing(server, login, silenceLimit, signal))) throw new Error("it does not answer");
    const [seen, isPermitted] = [await replicationOf(login), await takesWrites(login)];
    const tenant = { ...login, username: spec.user, password: spec.password };
    const hasTenantPassword = await ping(tenant).then(
      () => true,
      () => false,
    );
    const role = seen.get("role") === "master" ? "primary" : "replica";
    return {
      server,
      port: login.port,
      role,
      takesWrites: isPermitted,
      hasTenantPassword,
      end: () =>
        expectingExit(
          (folder) => folder === files.folder,
          () => shutDown(files, server, login),
        ),
    };
  } catch {
    signal?.throwIfAborted();
    return ended(files);
  }
}

/** The node, if its process still runs. */
export function stillRunning(node: Running | undefined): Running | undefined {
  return node !== undefined && isRunning(node.server) ? node : undefined;
}

async function ended(files: NodeFiles): Promise<undefined> {
  await endNode(files.folder, 3000);
  return undefined;
}
