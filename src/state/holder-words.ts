/** @module Words the holder of a lock by what its store says of it, and says nothing that nobody knows. */
import type { Hide } from "../model/known-secrets.ts";
import { shellWord } from "../model/shell-word.ts";
import { nobody } from "./lock-record.ts";
import type { Holder } from "./store.ts";

/** The id of a lock whose store shows none: no lock can be removed by it. */
export const unknownId = "unknown";
/** The work of a holder whose store does not show it. */
export const unknownOperation = "something";
/** The time of a holder whose store does not show it. */
export const unknownTime = "1970-01-01T00:00:00.000Z";

/** What a holder wrote of itself, searched for secrets; its id and its times stay as they are. */
export function shownHolder<Kind extends Pick<Holder, "who" | "operation" | "host">>(
  holder: Kind,
  hide: Hide,
): Kind {
  const { who, operation, host } = holder;
  return { ...holder, who: hide(who), operation: hide(operation), host: hide(host) };
}

/** Characters of a name that are repeated. */
const longestName = 80;

/** The holder and its process: `ann@host (process 7)`, or `somebody`. */
export function holderName({ who, pid }: Pick<Holder, "who" | "pid">): string {
  const name = cut(who);
  return pid === nobody.pid ? name : `${name} (process ${pid})`;
}

/** Its work, to be put after the name: ` for apply`; empty where it is not known. */
export function holderWork({ operation }: Pick<Holder, "operation">): string {
  return operation === unknownOperation ? "" : ` for ${cut(operation)}`;
}

/** A name as a message repeats it: whoever holds a lock writes what they like. */
function cut(text: string): string {
  return text.length > longestName ? `${text.slice(0, longestName)}...` : text;
}

/** The time at which it took the lock, to be put after its work; empty where it is not known. */
export function holderSince({ created }: Pick<Holder, "created">, word: "since" | "at" = "since"): string {
  return created === unknownTime ? "" : ` ${word} ${created}`;
}

/** The way to remove its lock once its process is gone. */
export function unlockHint({ id }: Pick<Holder, "id">): string {
  return id === unknownId
    ? "the store does not show the id of its lock: if that process is surely gone, remove the lock at the store itself"
    : `if that process is surely gone, run: graphform state unlock ${shellWord(id)}`;
}
