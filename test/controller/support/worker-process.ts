import process from "node:process";
import { openDatabase } from "../../../src/controller/database/connect.ts";
import { startQueue } from "../../../src/controller/queue/queue.ts";
import { watchForRestore } from "../../../src/controller/runs/restored.ts";
import { startWorker } from "../../../src/controller/runs/worker.ts";

/** A worker as a process of its own; killed and stopped by tests. */
const databaseUrl = process.env["DATABASE_URL"] ?? "";
const config = JSON.parse(process.env["CONFIG"] ?? "{}");
const onTrouble = (error: Error): void => void process.stderr.write(`${error.message}\n`);
const database = openDatabase(databaseUrl, onTrouble);
watchForRestore(database, onTrouble);
const queue = await startQueue(databaseUrl, onTrouble);
const worker = await startWorker({
  database,
  databaseUrl,
  queue,
  config: { current: () => config, reload: async () => undefined },
  slots: 4,
  version: "test",
  thread: new URL("../../../src/controller/runs/thread.ts", import.meta.url),
  onTrouble,
});
process.stdout.write(`${worker.id}\n`);
process.on("SIGTERM", () => void worker.stop(20_000).then(() => process.exit(0)));
