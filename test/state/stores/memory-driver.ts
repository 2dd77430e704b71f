import { GraphformError } from "../../../src/model/errors.ts";
import type { Lease, StateDriver } from "../../../src/state/remote/driver.ts";
import type { Holder, StoredVersion } from "../../../src/state/store.ts";

/** A request of a driver, as faults name it. */
export type Request = "read" | "write" | "take" | "renew" | "release" | "holder" | "remove";

/**
 * The end of one request. `before`: it never came. `after`: it was done, and the answer is lost. `late`: as `before`, and it
 * is done when the backend delivers it. `denied`: the credentials are refused.
 */
export type Fault = "before" | "after" | "late" | "denied";

/** A store in memory that several drivers share, with a clock of its own. */
export interface Backend {
  readonly now: () => number;
  document?: { readonly text: string; readonly version: number } | undefined;
  lock?: { readonly holder: Holder; readonly token: number; readonly until: number } | undefined;
  /** Requests that are still on their way. */
  late: (() => void)[];
  /** Documents that were stored, oldest first. */
  readonly stored: string[];
  last: number;
}

export function memoryBackend(now: () => number): Backend {
  return { now, late: [], stored: [], last: 0 };
}

/** Does everything that is on its way. */
export function deliver(backend: Backend): void {
  const late = backend.late;
  backend.late = [];
  for (const act of late) act();
}

export interface MemoryDriverOptions {
  /** False for locks that never end by themselves. */
  readonly expires?: boolean;
  /** True where the store compares the lease at each write, as a database can. */
  readonly checksLease?: boolean;
  /** Asked before each request. It may wait. */
  readonly fault?: (request: Request) => Fault | undefined | Promise<Fault | undefined>;
  /** The way of an answer: what is asked for is done when it begins. */
  readonly answered?: (request: Request) => Promise<void>;
  /** Told of each document that is stored. */
  readonly onStored?: (text: string) => void;
  /** True for a store that keeps every version, by its place among those that were stored. */
  readonly keeps?: boolean;
}

/** A driver over a store in memory. Its conditions are exact; its answers may be lost. */
export function memoryDriver(backend: Backend, options: MemoryDriverOptions = {}): StateDriver {
  const { expires = true, checksLease = false, fault = () => undefined } = options;
  const { answered = async () => undefined, onStored = () => undefined } = options;
  const where = "memory://shop";

  const request = async <T>(name: Request, act: () => T): Promise<T> => {
    const met = await fault(name);
    if (met === "denied") throw new GraphformError("state-denied", `${where} refuses these credentials`);
    if (met === "before") throw unreachable(name);
    if (met === "late") {
      backend.late.push(() => void act());
      throw unreachable(name);
    }
    const answer = act();
    await answered(name);
    if (met === "after") throw unreachable(name);
    return answer;
  };
  const live = (): Backend["lock"] => {
    const { lock } = backend;
    return lock !== undefined && (!expires || backend.now() < lock.until) ? lock : undefined;
  };
  const until = ({ heartbeat, expires: end }: Holder): number =>
    backend.now() + Date.parse(end) - Date.parse(heartbeat);
  const put = (holder: Holder): Lease => {
    backend.last += 1;
    backend.lock = { holder, token: backend.last, until: until(holder) };
    return { holder, token: String(backend.last) };
  };

  return {
    where,
    expires,
    read: () =>
      request("read", () =>
        backend.document === undefined
          ? undefined
          : { text: backend.document.text, version: String(backend.document.version) },
      ),
    write: (text, expected, lease) =>
      request("write", () => {
        const { document } = backend;
        const isOurs = !checksLease || live()?.holder.id === lease.holder.id;
        if (!isOurs || expected !== (document && String(document.version))) return { is: "stale" };
        backend.last += 1;
        backend.document = { text, version: backend.last };
        backend.stored.push(text);
        onStored(text);
        return { is: "written", version: String(backend.last) };
      }),
    take: (holder) =>
      request("take", () => {
        const before = live();
        if (before !== undefined && before.holder.id !== holder.id) return { is: "held", by: before.holder };
        const over = backend.lock?.holder;
        const isTakeover = over !== undefined && over.id !== holder.id;
        return { is: "taken", lease: put(holder), ...(isTakeover ? { over } : {}) };
      }),
    renew: (lease, holder) =>
      request("renew", () => {
        const { lock } = backend;
        if (lock?.holder.id !== lease.holder.id)
          return { is: "lost", ...(lock === undefined ? {} : { to: lock.holder }) };
        return { is: "renewed", lease: expires ? put(holder) : lease };
      }),
    release: (lease) =>
      request("release", () => {
        if (backend.lock?.holder.id === lease.holder.id) backend.lock = undefined;
      }),
    holder: () => request("holder", () => live()?.holder),
    remove: (id) =>
      request("remove", () => {
        if (backend.lock?.holder.id !== id) return false;
        backend.lock = undefined;
        return true;
      }),
    prepare: async () => undefined,
    probe: async () => undefined,
    async history(limit): Promise<readonly StoredVersion[] | undefined> {
      if (options.keeps !== true) return [];
      const all = backend.stored.map((text, id) => {
        const { serial, savedAt }: { serial: number; savedAt: string } = JSON.parse(text);
        return { id: String(id), serial, savedAt };
      });
      return all.reverse().slice(0, limit);
    },
    readVersion: async (id) => backend.stored[Number(id)] ?? "",
    close: async () => undefined,
  };
}

function unreachable(name: string): GraphformError {
  return new GraphformError("state-unreachable", `memory://shop did not answer to ${name}`);
}
