/** @module Creates the driver of a state behind Terraform's HTTP protocol: plain, GitLab's or Gitea's. */
import { randomBytes } from "node:crypto";
import { systemClock } from "../../../model/clock.ts";
import { GraphformError } from "../../../model/errors.ts";
import { defined } from "../../../model/json.ts";
import { type HttpLocation, httpCredentials } from "../../../model/stores/http.ts";
import { digestOf, versionIn } from "../../document.ts";
import { holderWith } from "../../lock-words.ts";
import type { Holder, Stored } from "../../store.ts";
import type { OpenDriver, Renewed, StateDriver, Written } from "../driver.ts";
import { openSender, type StoreAnswer } from "../store-http.ts";
import { denied, unsuitable } from "../store-refusals.ts";
import {
  assertNoPage,
  type HttpAddresses,
  type HttpCredentials,
  type HttpLock,
  type HttpRequest,
  type HttpStoreConfig,
  httpAddresses,
  httpLock,
  httpRefusal,
  httpRequest,
  withId,
} from "./http-protocol.ts";

export const openDriver: OpenDriver<HttpLocation> = (
  { type: _, ...location },
  { variable, isOtherEnd, ca },
) => {
  const { value } = httpCredentials(location, variable, isOtherEnd);
  return createHttpDriver({ ...location, ...defined({ ca }) }, () => value);
};

/**
 * A state behind Terraform's protocol, which compares no versions, and whose locks do not expire: the lock, with a serial and a digest that
 * are compared before each write, is the only protection. Throws `url-*` and `state-unsuitable` for addresses that must not be used.
 */
export function createHttpDriver(config: HttpStoreConfig, credentials: HttpCredentials): StateDriver {
  const addresses = httpAddresses(config);
  const { where } = addresses;
  const { send, close } = openSender(config);
  const request = httpRequest(send, credentials, where);
  const lock = httpLock(request, addresses);
  /** True once the server has shown its lock, false once it has not; undefined before the first look. */
  let shows: boolean | undefined;
  let isProven = false;

  const { read, write, isAbsent } = httpDocument(request, addresses, config.settle ?? settle);

  return {
    where,
    expires: false,
    read,
    write: (text, expected, { token }) => write(text, expected, token),
    async take(holder) {
      const taken = await lock.take(holder);
      if (taken.is === "held") return taken;
      // Another server may answer by now.
      shows = undefined;
      // No run begins on a server that would let a second one in.
      if (!isProven && (await letsIn(lock))) {
        await lock.free(holder);
        throw unsuitable(where, "gives its lock to two runs at once", noLockHint);
      }
      isProven = true;
      return taken;
    },
    async renew({ token }, holder) {
      const ours: Renewed = { is: "renewed", lease: { token, holder } };
      if (shows === false) return ours;
      const seen = await lock.look();
      if (seen.is === "held") {
        shows = true;
        return seen.by.id === token ? ours : { is: "lost", to: seen.by };
      }
      // A server that showed the lock before shows none now; any other has nothing to look at.
      if (shows === true) return { is: "lost" };
      shows = false;
      return ours;
    },
    async release({ holder }) {
      if (await lock.free(holder)) return;
      const message = `the state store ${where} says that the lock is another one's, or gone`;
      throw new GraphformError("lock-unknown", message);
    },
    async holder() {
      const seen = await lock.look();
      if (seen.is === "held") return seen.by;
      // GitLab makes the record of a state with its lock: without one there is none.
      if (addresses.dialect === "gitlab" && (await isAbsent())) return undefined;
      // The protocol cannot show the lock: only a request for it is answered with its holder.
      const visitor = passer("look");
      const taken = await lock.take(visitor);
      if (taken.is === "held") return taken.by;
      await lock.free(visitor);
      return undefined;
    },
    remove: (id) => lock.free(holderWith({ id })),
    prepare: () => probeHttp(lock, where),
    probe: () => probeHttp(lock, where),
    async history() {
      return undefined;
    },
    async readVersion() {
      throw unsuitable(
        where,
        "shows no earlier versions",
        "its own pages may: GitLab lists them under Operate",
      );
    },
    close,
  };
}

/** Time in ms between two looks that prove that nothing is stored: a server that is wrong for a moment would have everything made again. */
const settle = 5000;

function httpDocument(
  request: HttpRequest,
  addresses: HttpAddresses,
  apart: number,
): {
  readonly read: StateDriver["read"];
  write(text: string, expected: string | undefined, lockId: string): Promise<Written>;
  /** True if the server has no record of the state, not even an empty one. Rejects as `read` does. */
  isAbsent(): Promise<boolean>;
} {
  const { where, state, updateMethod, dialect } = addresses;
  /** True for 404, but not for that of a project that GitLab does not show: rejects, since that is no empty state. */
  const isNone = (answer: StoreAnswer): boolean => {
    if (answer.status !== 404) return false;
    if (dialect === "gitlab" && /project not found/i.test(answer.body.toString("utf8")))
      throw httpRefusal(answer, "read the state", addresses);
    return true;
  };
  /** Undefined for 204, 404 and an empty document. */
  const read = async (): Promise<Stored | undefined> => {
    const answer = await request("GET", state);
    if (answer.status === 204 || isNone(answer)) return undefined;
    const text = answer.body.toString("utf8");
    if (answer.status !== 200) throw httpRefusal(answer, "read the state", addresses);
    // A plain server may call every file a page.
    assertNoPage({ ...answer, headers: {} }, "read the state", where);
    return text === "" ? undefined : { text, version: versionOf(text) };
  };
  return {
    read,
    async isAbsent() {
      const answer = await request("GET", state);
      if (answer.status === 401 || answer.status === 403)
        throw httpRefusal(answer, "read the state", addresses);
      return isNone(answer);
    },
    /**
     * Stores a document if the expected version is stored. The protocol compares nothing, so this reads before it writes, and twice,
     * `settle` apart, if nothing is expected; between reading and writing only the lock keeps others out. 409, 412 and 423 mean that
     * another run has the lock: `stale`. Rejects with `state-unsuitable` if the first document cannot be read again: every run would
     * find no state, and create everything once more.
     */
    async write(text, expected, lockId) {
      if (lockId === "")
        throw denied(where, "is not locked, and nothing is written without its lock", "take the lock first");
      if ((await read())?.version !== expected) return { is: "stale" };
      // An absent document is not a version: a server that shows none for a moment looks the same. A document that appears is never replaced.
      if (expected === undefined) {
        await systemClock.sleep(apart);
        if ((await read()) !== undefined) return { is: "stale" };
      }
      const answer = await request(updateMethod, withId(state, lockId), text);
      if ([409, 412, 423].includes(answer.status)) return { is: "stale" };
      if (![200, 201, 204].includes(answer.status)) throw httpRefusal(answer, "write the state", addresses);
      assertNoPage(answer, "write the state", where);
      const version = versionOf(text);
      if (expected !== undefined) return { is: "written", version };
      const shown = await read();
      if (shown === undefined)
        throw unsuitable(
          where,
          "took a document and shows none: it cannot be read again, and what stood there unseen may have been replaced",
          "let these credentials read at this address, and put the former document back if there was one; then run the command again",
        );
      return shown.version === version ? { is: "written", version } : { is: "stale" };
    },
  };
}

/** The serial and a digest: a serial alone could be that of another history. */
function versionOf(text: string): string {
  return `${versionIn(text).serial}-${digestOf(text)}`;
}

/**
 * Takes the lock twice, under two IDs, and gives it back with the wrong one and then the right one. Rejects with `state-unsuitable` if
 * the second run is let in, or if a wrong ID frees the lock. A lock that is held is proof enough.
 */
async function probeHttp(lock: HttpLock, where: string): Promise<void> {
  const [first, second] = [passer("probe"), passer("probe")];
  if ((await lock.take(first)).is === "held") return;
  try {
    if (await letsIn(lock, second)) throw unsuitable(where, "gives its lock to two runs at once", noLockHint);
    // A server may accept the request and do nothing: the third attempt shows that.
    if ((await lock.free(second)) && (await letsIn(lock)))
      throw unsuitable(where, "removes its lock for any ID", noLockHint);
  } finally {
    await lock.free(first);
  }
}

/** A holder for as long as a look takes. */
function passer(operation: string): Holder {
  return holderWith({ id: randomBytes(8).toString("hex"), operation });
}

/** True if a lock that is held is given to another holder too, who gives it back. */
async function letsIn(lock: HttpLock, other: Holder = passer("probe")): Promise<boolean> {
  if ((await lock.take(other)).is === "held") return false;
  await lock.free(other);
  return true;
}

const noLockHint =
  "two runs at once would make databases twice; use a server that keeps the rules of Terraform's protocol, or check lockAddress";
