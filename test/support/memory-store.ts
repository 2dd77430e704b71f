import { randomBytes } from "node:crypto";
import { exitCodes, GraphformError } from "../../src/model/errors.ts";
import type { StateDocument } from "../../src/model/state.ts";
import { follows, type VersionId } from "../../src/state/document.ts";
import { liveDocument, snapshotOf } from "../../src/state/live-document.ts";
import { appendTo } from "../../src/state/reducer.ts";
import type { Holder, StateStore } from "../../src/state/store.ts";

/** A state that lives as long as this process: for programs that keep it elsewhere, and for tests. */
export function createMemoryStore(initial?: StateDocument): StateStore {
  let live = initial && liveDocument(initial);
  let holder: Holder | undefined;
  const where = "memory";
  return {
    where,
    read: async () => live && snapshotOf(live.view),
    async write(next): Promise<void> {
      assertFollows(live?.view, next);
      live = liveDocument(next);
    },
    async append(next): Promise<void> {
      assertFollows(live?.view, next);
      if (live !== undefined) appendTo(live, next);
    },
    async lock(operation, { clock, signal, timeout = 0, lease = 60_000 }): ReturnType<StateStore["lock"]> {
      const deadline = clock.now() + timeout;
      while (holder !== undefined) {
        const left = deadline - clock.now();
        if (left <= 0) throw locked(holder);
        await clock.sleep(Math.min(left, 100), signal);
      }
      signal?.throwIfAborted();
      const lost = new AbortController();
      const created = new Date(clock.now()).toISOString();
      const expires = new Date(clock.now() + lease).toISOString();
      const id = randomBytes(8).toString("hex");
      const mine = {
        id,
        who: where,
        pid: process.pid,
        host: where,
        operation,
        created,
        heartbeat: created,
        expires,
      };
      holder = mine;
      return {
        id,
        lost: lost.signal,
        check: async () => undefined,
        look: () => undefined,
        finish: async () => undefined,
        async release(): Promise<void> {
          if (holder?.id === id) holder = undefined;
        },
      };
    },
    holder: async () => holder,
    async unlock(id, options): Promise<Holder> {
      const found = holder;
      if (found?.id !== id) throw new GraphformError("lock-unknown", `there is no lock ${id}`);
      if (options?.force !== true)
        throw new GraphformError("lock-alive", `the lock ${id} is held by this process`, {
          hint: "release it",
        });
      holder = undefined;
      return found;
    },
  };
}

function assertFollows(stored: StateDocument | undefined, next: VersionId): void {
  if (follows(stored, next)) return;
  const found = stored === undefined ? "nothing is stored" : `version ${stored.serial} is stored`;
  throw new GraphformError("state-conflict", `version ${next.serial} was to be written, but ${found}`, {
    hint: "nothing was overwritten; start again from what is stored",
  });
}

function locked({ operation, created, id }: Holder): GraphformError {
  return new GraphformError("locked", `the state is locked: it is held for ${operation} since ${created}`, {
    exitCode: exitCodes.locked,
    hint: `wait for it, or release the lock ${id}`,
  });
}
