/**
 * Counts up in a file, under a lock, again and again; dies by kill -9 in the middle now and then. Prints a line for
 * every count that is done, and `BROKEN` where it meets another one who is alive within the lock.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isRunning, thisProcess } from "../../../src/files/process-identity.ts";
import { systemClock } from "../../../src/model/clock.ts";
import { acquireLock } from "../../../src/state/lock.ts";

const [file = "", counter = "", rounds = "0", deadly = "0"] = process.argv.slice(2);
const inside = `${counter}.inside`;
const me = thisProcess();

for (let round = 0; round < Number(rounds); round += 1) {
  const lock = await acquireLock(file, "count", { clock: systemClock, timeout: 120_000 });
  if (existsSync(inside) && isRunning(JSON.parse(readFileSync(inside, "utf8"))))
    process.stdout.write("BROKEN\n");
  writeFileSync(inside, JSON.stringify(me));
  const count = Number(readFileSync(counter, "utf8"));
  await new Promise((resolve) => setImmediate(resolve));
  if (Math.random() < Number(deadly)) process.kill(process.pid, "SIGKILL");
  writeFileSync(counter, String(count + 1));
  process.stdout.write("done\n");
  rmSync(inside);
  await lock.release();
}
