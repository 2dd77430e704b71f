/** @module Opens the rows of a state in PostgreSQL to a server that offers them by another protocol. */
import { versionIn } from "../state/document.ts";
import { holderOf, lockInfoOf } from "../state/remote/lock-info.ts";
import { stateRows, tablesIn } from "../state/remote/postgres/state-rows.ts";

/** Runs one statement and resolves with its rows. Numbers of eight bytes may come as numbers or texts. */
export type RunStatement = (
  sql: string,
  values?: readonly unknown[],
) => Promise<readonly { readonly [column: string]: unknown }[]>;

/** The end of an attempt to lock, to write, to remove. `holder` is Terraform's LockInfo. */
export type SharedLock =
  | { readonly is: "taken" }
  | { readonly is: "held"; readonly holder: object }
  | { readonly is: "invalid" };
export type SharedWrite =
  | { readonly is: "written"; readonly serial: number }
  | { readonly is: "not-locked"; readonly holder?: object }
  | { readonly is: "changed" | "serial-known" };

/**
 * One state in the tables of the postgres store, under the same lease and fence. A lock that is taken here has a lease of a century: the
 * protocols that this is for renew nothing.
 */
export interface SharedState {
  read(): Promise<string | undefined>;
  /** Takes the lock for a LockInfo; `invalid` if it names no lock. A lock that stands under the same id is ours. */
  lock(info: unknown): Promise<SharedLock>;
  /** Gives back the lock of exactly this id; false if there is none. */
  unlock(id: string): Promise<boolean>;
  /** The LockInfo of the holder; undefined if the state is not locked. */
  holder(): Promise<object | undefined>;
  /** Stores a document under the lock of this id, if no version that is kept has its serial. Throws `state-*` for what is no state. */
  write(text: string, lock: string): Promise<SharedWrite>;
  /** Removes the document, under the lock of this id. Versions that are kept stay. */
  remove(lock: string): Promise<SharedWrite | undefined>;
}

const century = 100 * 365.25 * 86_400_000;

/** The state of a name in the schema `graphform`. Nothing is asked before the first call. */
export function sharedState(run: RunStatement, name: string): SharedState {
  const tables = tablesIn("graphform", 15_000);
  const rows = stateRows(run, tables, name, versionsKept);

  /** The fence of the lease with this id; undefined if the lease has another id. */
  const fenceOf = async (id: string): Promise<string | undefined> => {
    const [row] = await run(
      `SELECT fence FROM ${tables.locks} WHERE name = $1 AND holder_id = $2 AND expires_at > clock_timestamp()`,
      [name, id],
    );
    return row === undefined ? undefined : String(row["fence"]);
  };
  const holder = async (): Promise<object | undefined> => {
    const found = await rows.holder();
    return found && lockInfoOf(found, name);
  };
  const notLocked = async (): Promise<SharedWrite> => {
    const found = await holder();
    return found === undefined ? { is: "not-locked" } : { is: "not-locked", holder: found };
  };
  return {
    read: async () => (await rows.read())?.text,
    async lock(info) {
      const wanted = holderOf(info);
      if (wanted === undefined || wanted.id.length > 255) return { is: "invalid" };
      const now = Date.now();
      const taken = await rows.take({
        ...wanted,
        heartbeat: new Date(now).toISOString(),
        expires: new Date(now + century).toISOString(),
      });
      return taken.is === "taken" ? { is: "taken" } : { is: "held", holder: lockInfoOf(taken.by, name) };
    },
    unlock: (id) => rows.remove(id),
    holder,
    async write(text, lock) {
      const { serial } = versionIn(text);
      const token = await fenceOf(lock);
      const by = await rows.holder();
      if (token === undefined || by?.id !== lock) return notLocked();
      const stored = await rows.read();
      const [known] = await run(
        `SELECT FROM ${tables.states} WHERE name = $1 AND serial = $2
        UNION ALL SELECT FROM ${tables.versions} WHERE name = $1 AND serial = $2`,
        [name, serial],
      );
      if (known !== undefined) return { is: "serial-known" };
      const written = await rows.write(text, stored?.version, { holder: by, token });
      if (written.is === "written") return { is: "written", serial };
      return (await fenceOf(lock)) === undefined ? notLocked() : { is: "changed" };
    },
    async remove(lock) {
      const removed = await run(
        `WITH ${tables.settings},
        lease AS MATERIALIZED (
          SELECT FROM ${tables.locks} AS l, settings
          WHERE l.name = $1 AND l.holder_id = $2 AND l.expires_at > clock_timestamp() FOR UPDATE OF l
        ), removed AS (DELETE FROM ${tables.states} WHERE name = $1 AND EXISTS (SELECT FROM lease))
        SELECT FROM lease`,
        [name, lock],
      );
      return removed.length > 0 ? undefined : notLocked();
    },
  };
}

/** Versions of a document that are kept: as many as the postgres store keeps. */
const versionsKept = 50;
