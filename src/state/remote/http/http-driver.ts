/** @module Creates the driver of a state behind Terraform's HTTP protocol: plain, GitLab's or Gitea's. */
import type { Lease, Renewed, StateDriver } from "../driver.ts";
import { unknownHolder } from "../wire/lock-info.ts";
import { notOurs, unsuitable } from "../wire/refusals.ts";
import { openSender } from "../wire/send.ts";
import { type HttpStoreConfig, httpAddresses } from "./http-addresses.ts";
import { isAbsent, readHttp, writeHttp } from "./http-document.ts";
import { httpLock } from "./http-lock.ts";
import { type HttpCredentials, httpRequest } from "./http-request.ts";
import { passer, probeHttp, proveLock } from "./probe-http.ts";

/**
 * A state behind Terraform's protocol. It compares no versions and its locks do not expire: the lock, with a serial and a
 * digest that are compared before each write, is all there is. Throws `url-*` and `state-unsuitable` for addresses that
 * must not be used. Sends nothing by itself.
 */
export function createHttpDriver(config: HttpStoreConfig, credentials: HttpCredentials): StateDriver {
  const addresses = httpAddresses(config);
  const { where } = addresses;
  const { send, close } = openSender(config);
  const request = httpRequest(send, credentials, where);
  const lock = httpLock(request, addresses);
  /** True once the server has shown its lock, false once it has not; undefined before anybody looked. */
  let shows: boolean | undefined;
  let isProven = false;

  const renew = async (lease: Lease): Promise<Renewed> => {
    const ours: Renewed = { is: "renewed", lease };
    if (shows === false) return ours;
    const seen = await lock.look();
    if (seen.is === "held") {
      shows = true;
      return seen.by.id === lease.token ? ours : { is: "lost", to: seen.by };
    }
    // A server that showed the lock before shows none now; any other has nothing to look at.
    if (shows === true) return { is: "lost" };
    shows = false;
    return ours;
  };

  return {
    where,
    expires: false,
    read: () => readHttp(request, addresses),
    write: (text, expected, { token }) => writeHttp(request, addresses, { text, expected, id: token }),
    async take(holder) {
      const taken = await lock.take(holder);
      if (taken.is === "held") return taken;
      // Another server may answer by now.
      shows = undefined;
      // No run begins on a server that would let a second one in.
      if (!isProven) await proveLock(lock, holder, where);
      isProven = true;
      return taken;
    },
    renew: async (lease, holder) => {
      const renewed = await renew(lease);
      return renewed.is === "lost" ? renewed : { is: "renewed", lease: { ...lease, holder } };
    },
    async release({ holder }) {
      if (!(await lock.free(holder))) throw notOurs(where);
    },
    async holder() {
      const seen = await lock.look();
      if (seen.is === "held") return seen.by;
      // GitLab makes the record of a state with its lock: without one there is none.
      if (addresses.dialect === "gitlab" && (await isAbsent(request, addresses))) return undefined;
      // The protocol has no way to look: only whoever asks for the lock is told who holds it.
      const visitor = passer("look");
      const taken = await lock.take(visitor);
      if (taken.is === "held") return taken.by;
      await lock.free(visitor);
      return undefined;
    },
    remove: (id) => lock.free(unknownHolder(id)),
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
