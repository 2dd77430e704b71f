/** Takes and gives back a lock on command, a line each: `take [timeout]`, `release`; answers with a line each. */
import { createInterface } from "node:readline";
import { systemClock } from "../../../src/model/clock.ts";
import { isGraphformError } from "../../../src/model/errors.ts";
import { acquireLock } from "../../../src/state/lock.ts";
import type { Lock } from "../../../src/state/store.ts";

const file = process.argv[2] ?? "";
let lock: Lock | undefined;

async function obey(verb: string | undefined, timeout: number): Promise<string> {
  if (verb === "release") await lock?.release();
  if (verb !== "take") return "done";
  try {
    lock = await acquireLock(file, "apply", { clock: systemClock, timeout });
    return "got";
  } catch (error) {
    return isGraphformError(error) ? error.code : String(error);
  }
}

process.stdout.write("up\n");
for await (const line of createInterface({ input: process.stdin })) {
  const [verb, timeout] = line.split(" ");
  process.stdout.write(`${await obey(verb, Number(timeout ?? 0))}\n`);
}
