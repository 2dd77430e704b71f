/** @module Takes, looks at and gives back the lock of Terraform's protocol, always by its exact ID. */
import type { Holder } from "../../store.ts";
import type { Taken } from "../driver.ts";
import { holderOf, lockInfoOf, parsed, unknownHolder } from "../wire/lock-info.ts";
import type { StoreAnswer } from "../wire/send.ts";
import { type HttpAddresses, withId } from "./http-addresses.ts";
import { assertNoPage, type HttpRequest, httpRefusal } from "./http-request.ts";

/** The lock of one state. */
export interface HttpLock {
  take(holder: Holder): Promise<Taken>;
  /** Removes the lock where it has this holder's ID; false where it has another one, or there is none. */
  free(holder: Holder): Promise<boolean>;
  /** Asks who holds the lock; `blind` where the server does not show it. */
  look(): Promise<{ readonly is: "held"; readonly by: Holder } | { readonly is: "blind" }>;
}

/** GitLab refuses a longer ID. */
const longestId = 255;

/** Asks for the lock. Held already under the same ID is taken: the answer to an earlier request was lost. */
export function httpLock(request: HttpRequest, addresses: HttpAddresses): HttpLock {
  const { lock, unlock, lockMethod, unlockMethod, where, dialect } = addresses;

  const free = async (holder: Holder): Promise<boolean> => {
    if (holder.id === "" || holder.id.length > longestId) return false;
    // GitLab takes a DELETE without ID for a forced unlock, and a proxy may drop the body of a DELETE.
    const url = unlockMethod === "DELETE" ? withId(unlock, holder.id) : unlock;
    const answer = await request(unlockMethod, url, JSON.stringify(lockInfoOf(holder, where)));
    if (isDone(answer)) {
      assertNoPage(answer, "unlock the state", where);
      return true;
    }
    if ([404, 409, 410, 412, 423].includes(answer.status)) return false;
    throw httpRefusal(answer, "unlock the state", addresses);
  };

  const tryOnce = async (holder: Holder): Promise<Taken | "freed meanwhile"> => {
    const answer = await request(lockMethod, lock, JSON.stringify(lockInfoOf(holder, where)));
    if (isDone(answer)) return { is: "taken", lease: { holder, token: holder.id } };
    if (answer.status !== 409 && answer.status !== 423)
      throw httpRefusal(answer, "lock the state", addresses);
    const info = parsed(answer.body.toString("utf8"));
    // GitLab shows no ID where the holder gave the lock back between its two looks.
    if (dialect === "gitlab" && info["ID"] === null) return "freed meanwhile";
    const by = holderIn(answer, addresses) ?? unknownHolder();
    // Gitea names no holder. Only a lock of our own, whose answer was lost, opens with our ID, which nobody else has.
    if (dialect === "gitea" && by.id === unknownHolder().id && (await free(holder))) return "freed meanwhile";
    return by.id === holder.id ? { is: "taken", lease: { holder, token: holder.id } } : { is: "held", by };
  };

  return {
    async take(holder) {
      const first = await tryOnce(holder);
      if (first !== "freed meanwhile") return first;
      const second = await tryOnce(holder);
      return second === "freed meanwhile" ? { is: "held", by: unknownHolder() } : second;
    },
    free,
    async look() {
      // At the state's own address a GET is the state.
      if (dialect === "gitlab" || lock.href === addresses.state.href) return { is: "blind" };
      const answer = await request("GET", lock);
      const by = answer.status === 200 ? holderIn(answer, addresses) : undefined;
      if (by !== undefined) return { is: "held", by };
      if (answer.status === 401 || (answer.status >= 500 && answer.status !== 501))
        throw httpRefusal(answer, "look at the lock", addresses);
      return { is: "blind" };
    },
  };
}

/** GitLab mixes the holder's ID, Who and Created with the requester's other keys: only those three are the holder's. */
function holderIn({ body }: StoreAnswer, { dialect }: HttpAddresses): Holder | undefined {
  const info = parsed(body.toString("utf8"));
  const { ID = null, Who = null, Created = null } = info;
  return holderOf(dialect === "gitlab" ? { ID, Who, Created } : info);
}

function isDone({ status }: StoreAnswer): boolean {
  return status === 200 || status === 201 || status === 204;
}
