/** @module Opens a connection to a database. */

import { createClient, ErrorReply, type RedisClientOptions } from "@redis/client";
import { defined } from "../model/json.ts";
import { isDatabaseError } from "./database-error.ts";
import { authorities, broken, endOf, refused, timeoutOf } from "./failures.ts";
import { lookupWithin } from "./names.ts";
import type { DatabaseTarget } from "./target.ts";

/** An open connection. */
export interface Database {
  /** One command; rejects with the error reply, or with a DatabaseError where the connection or the time ends. */
  ask(command: readonly string[]): Promise<unknown>;
  close(): void;
}

/** True for an error reply: the database runs and refuses the command. */
export function isRefusal(error: unknown): error is ErrorReply {
  return error instanceof ErrorReply;
}

/**
 * Connects and signs in, once: no reconnecting, no retries. Everything, the commands included, must be over within the
 * target's timeout. Rejects with a DatabaseError, or with the reason of the signal.
 */
export async function openDatabase(target: DatabaseTarget, signal: AbortSignal): Promise<Database> {
  signal.throwIfAborted();
  const closing = new AbortController();
  const socket = { ...(await socketOf(target)), lookup: lookupWithin(closing.signal) };
  const client = template.duplicate({ ...credentialsOf(target), socket });
  client.on("error", () => undefined);
  client.unref();
  const end = endOf(target, signal);
  const within = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await Promise.race([work, end.reached]);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw isRefusal(error) || isDatabaseError(error) ? error : broken(target, error);
    }
  };
  const close = (): void => {
    end.cancel();
    closing.abort();
    client.destroy();
  };
  try {
    await within(client.connect());
  } catch (error) {
    close();
    throw isRefusal(error) ? refused(target, error) : error;
  }
  return { ask: (command) => within(client.sendCommand([...command])), close };
}

/** Options that keep the library from sending commands of its own. */
const quiet: Pick<RedisClientOptions, "disableClientInfo" | "maintNotifications"> & { readonly RESP: 2 } = {
  RESP: 2,
  disableClientInfo: true,
  maintNotifications: "disabled",
};

/** The library builds a class of all commands for each new set of options, 10 ms a time; copies share this one's. */
const template = createClient(quiet);

function credentialsOf({
  username,
  password,
}: DatabaseTarget): Pick<RedisClientOptions, "username" | "password"> {
  return { ...defined({ username, password }) };
}

async function socketOf(target: DatabaseTarget): Promise<NonNullable<RedisClientOptions["socket"]>> {
  const { host, port, tls = false } = target;
  const common = { host, port, connectTimeout: timeoutOf(target), reconnectStrategy: false as const };
  if (tls === false) return common;
  const caFile = tls === true ? undefined : tls.caFile;
  return { ...common, tls: true, ...(caFile === undefined ? {} : { ca: await authorities(caFile) }) };
}
