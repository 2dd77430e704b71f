import { ping } from "./connection.ts";
import type { DatabaseNode, DatabaseSpec } from "./database.ts";
import { refuseWrites } from "./failover.ts";
import { operatorLogin, untilServing } from "./launch.ts";
import { configuredPort, type NodeFiles } from "./node-files.ts";
import { endAll, processesOver } from "./processes.ts";
import { replicationOf } from "./replication.ts";
import { endingOnPurpose } from "./server-process.ts";
import { shutDown } from "./shut-down.ts";

/** A node that an earlier platform left running and that answers. */
export interface Running {
  readonly pid: number;
  readonly port: number;
  readonly role: DatabaseNode["role"];
  /** The tenant's user has the password of the spec. */
  readonly knowsTenant: boolean;
  /** Ends it with its data flushed. */
  end(): Promise<void>;
}

/**
 * The process over a node's configuration, if it answers to the operator. Anything else over it is ended: a server that
 * does not answer, and a child that outlived its server and would still write into the data.
 */
export async function findRunning(
  files: NodeFiles,
  secret: string,
  spec: DatabaseSpec,
): Promise<Running | undefined> {
  const [pid] = processesOver(files.config);
  if (pid === undefined) return undefined;
  const port = (await configuredPort(files)) ?? 0;
  const login = operatorLogin(port, secret, spec.tls);
  try {
    if (!(await untilServing(login, 3000))) throw new Error("it does not answer");
    const seen = await replicationOf(login);
    // The platform may have been killed in the middle of a failover.
    await refuseWrites(login, false);
    const tenant = { ...login, username: spec.user, password: spec.password };
    const knowsTenant = await ping(tenant).then(
      () => true,
      () => false,
    );
    const role = seen.get("role") === "master" ? "primary" : "replica";
    return { pid, port, role, knowsTenant, end: () => shutDown(files, pid, login) };
  } catch {
    await endingOnPurpose(files.config, () => endAll(files.config, 3000));
    return undefined;
  }
}
