/** Changes a state as fast as it can until it is killed; prints the serial of every version that is durable. */
import { writeSync } from "node:fs";
import { systemClock } from "../../../src/model/clock.ts";
import { emptyState } from "../../../src/state/document.ts";
import { createFileStore } from "../../../src/state/file-store.ts";
import { openJournal } from "../../../src/state/journal.ts";
import { sampleBound } from "../samples.ts";

const store = createFileStore({ path: process.argv[2] ?? "", name: "shop" });
const lock = await store.lock("apply", { clock: systemClock });
const journal = openJournal(store, (await store.read()) ?? emptyState("shop"), systemClock);
for (let count = 0; !lock.lost.aborted; count += 1) {
  const [address, bound] = [`instances.db${count % 50}`, sampleBound(`i-${count}`)];
  await journal.record({ type: "bound", address, bound });
  writeSync(1, `${journal.state.serial}\n`);
}
