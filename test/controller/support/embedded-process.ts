import process from "node:process";
import { startEmbedded } from "../../../src/controller/embedded.ts";

/** Runs an embedded PostgreSQL in the folder of its argument, prints its address, and waits to be killed. */
const { url } = await startEmbedded(process.argv[2] ?? "", () => undefined);
process.stdout.write(`${url}\n`);
setInterval(() => undefined, 1000);
