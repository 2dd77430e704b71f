/** @module Makes sure that a database keeps the data that it got: on its disk, on its replicas, and within its memory. */
import type { Command } from "../../database/command-socket.ts";
import { linesIn } from "../../database/parameters.ts";
import { listOf } from "../../database/replies.ts";
import type { Side } from "./nodes.ts";
import { Refused } from "./refusals.ts";

const most = 0.8;

/** Writes to the target by `last`, and waits until it is safe, at most `within` ms for its append-only file, and for its replicas. One without such a file needs a backup too. Throws a Refused. */
export async function makeDurable({ primary }: Side, last: Command, within = 60_000): Promise<void> {
  const { control } = primary;
  const info = linesIn(await control.one(["INFO"]));
  const replicas = Number(info["connected_slaves"]);
  const max = Number(info["maxmemory"]);
  const usedShare = max === 0 ? 0 : Number(info["used_memory"]) / max;
  if (usedShare > most) {
    const used = `${Math.ceil(usedShare * 100)} % of its memory; the limit is ${100 * most} %`;
    throw new Refused("target-too-full", `the new database uses ${used}`);
  }
  // WAIT and WAITAOF wait for the writes of their own connection.
  await control.one(last);
  const wait = (...command: readonly string[]) =>
    control.one([...command, String(within)], { within: within + 10_000 });
  const unsafe = (what: string) => new Refused("target-unsafe", `${what} after ${within} ms`);
  if (info["aof_enabled"] === "1" && listOf(await wait("WAITAOF", "1", "0"))[0] !== 1)
    throw unsafe("the new database had not written its data to disk");
  const acknowledged = replicas === 0 ? 0 : Number(await wait("WAIT", String(replicas)));
  if (acknowledged < replicas)
    throw unsafe(`${acknowledged} of ${replicas} replicas of the new database had its data`);
}
