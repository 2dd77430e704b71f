#!/usr/bin/env node
// The launcher. It must be understood by every Node that a person may have, so that an old one gets a sentence and not
// a syntax error; it answers `--version` itself, so that the answer costs no more than starting Node.
import { constants, existsSync, openSync, readFileSync, statSync } from "node:fs";
import module from "node:module";
import process from "node:process";

const built = new URL("../dist/cli.js", import.meta.url);

// Before a command listens itself nothing has begun, and an interrupt ends like every other one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (process.listenerCount(signal) !== 1) return;
    endWaitsForWriters();
    process.exit(130);
  });
}

const refusal = await import("./check-node.js").then(
  () => undefined,
  (error) => error.message,
);
if (refusal !== undefined) {
  fail(refusal);
} else if (process.argv.length === 3 && ["--version", "-V"].includes(process.argv[2])) {
  console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
} else if (existsSync(built)) {
  module.enableCompileCache();
  await import(built.href);
} else {
  fail("this clone is not built yet: run `npm run build` first");
}

/**
 * Opening a pipe to read blocks until it is opened to write, and the process cannot end meanwhile: opens the pipes of the command line to write.
 * They stay open, since the other opening may only be about to begin; opened to read as well, they block nothing here.
 */
function endWaitsForWriters() {
  for (const word of process.argv.slice(2).flatMap((given) => [given, given.slice(given.indexOf("=") + 1)])) {
    try {
      if (statSync(word).isFIFO()) openSync(word, constants.O_RDWR | constants.O_NONBLOCK);
    } catch {
      // No file, or one that may not be written.
    }
  }
}

function fail(message) {
  console.error(`graphform: ${message}`);
  process.exitCode = 1;
}
