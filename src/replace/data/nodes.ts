/** @module Connects to every node of a database, and knows which connections are our own. */
import { DatabaseError } from "../../database/failures.ts";
import { linesIn } from "../../database/parameters.ts";
import type { DatabaseLogin } from "../../model/kind.ts";
import { type Link, openLink } from "./link.ts";

/** One node of a database. */
export interface Node {
  readonly target: DatabaseLogin;
  readonly role: "primary" | "replica";
  /** The connection for everything but data: a copy of ours never keeps it waiting in its own queue. */
  readonly control: Link;
  /** Opens one more connection, to a database by its number. Rejects with a DatabaseError, or with the reason of the signal. */
  open(signal: AbortSignal, database?: number): Promise<Link>;
  /** The ids of our open connections, as CLIENT LIST shows them. */
  ownIds(): ReadonlySet<number>;
}

/** All nodes of one database. */
export interface Side {
  readonly primary: Node;
  readonly replicas: readonly Node[];
  readonly nodes: readonly Node[];
  /** Closes all connections. A pause of writes that we hold goes on until its end. */
  readonly close: () => void;
}

/** Connects to every node until the signal ends, and finds the primary. Rejects with a DatabaseError if a node cannot be reached or not exactly one is primary. */
export async function openSide(targets: readonly DatabaseLogin[], signal: AbortSignal): Promise<Side> {
  const closing = new AbortController();
  const until = AbortSignal.any([signal, closing.signal]);
  const close = (): void => closing.abort(new Error("the connections were closed"));
  try {
    const nodes = await Promise.all(targets.map((target) => openNode(target, until)));
    const [primary, ...others] = nodes.filter(({ role }) => role === "primary");
    if (primary === undefined || others.length > 0) {
      const places = targets.map(({ host, port }) => `${host}:${port}`).join(", ");
      const count = primary === undefined ? "no node is" : "more than one node is";
      throw new DatabaseError("unreachable", `${count} the primary of the database at ${places}`);
    }
    return { primary, replicas: nodes.filter((node) => node !== primary), nodes, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Connections to the same database of both sides. */
export interface Pair {
  readonly source: Link;
  readonly target: Link;
}

/** Works with a pair of connections to one database for listing, and so many for values, and closes them. */
export async function withPairs<T>(
  [source, target]: readonly [Side, Side],
  database: number,
  count: number,
  signal: AbortSignal,
  work: (listing: Pair, values: readonly [Pair, ...Pair[]]) => Promise<T>,
): Promise<T> {
  const closing = new AbortController();
  const until = AbortSignal.any([signal, closing.signal]);
  const open = async (): Promise<Pair> => ({
    source: await source.primary.open(until, database),
    target: await target.primary.open(until, database),
  });
  try {
    const listing = await open();
    return await work(listing, await Promise.all([open(), ...Array.from({ length: count - 1 }, open)]));
  } finally {
    closing.abort(new Error("the work is done"));
  }
}

/** Asks both primaries the same. */
export function askBoth<T>(sides: readonly Side[], ask: (link: Link) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(sides.map(({ primary }) => ask(primary.control)));
}

async function openNode(target: DatabaseLogin, until: AbortSignal): Promise<Node> {
  const links = new Set<Link>();
  const open = async (signal: AbortSignal, database = 0): Promise<Link> => {
    const link = await openLink(target, AbortSignal.any([signal, until]), database);
    links.add(link);
    return link;
  };
  const control = await open(until);
  const info = linesIn(await control.one(["INFO", "replication"]));
  return {
    target,
    role: info["role"] === "master" ? "primary" : "replica",
    control,
    open,
    ownIds() {
      for (const link of links) if (!link.isOpen) links.delete(link);
      return new Set([...links].map(({ id }) => id));
    },
  };
}
