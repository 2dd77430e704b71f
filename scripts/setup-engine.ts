import { setupEngine } from "../src/platform/engine/setup/setup-engine.ts";
import { wrapLines } from "../src/report/typeset.ts";

/** Makes a database engine for the local platform ready, and says in one line which. Exit code 1 where none can be had. */
try {
  const found = await setupEngine(process.env, (line) => console.error(`graphform: ${line}`));
  const { engine } = found;
  if (engine === undefined) {
    console.error(`graphform: ${[found.reason, found.hint].filter((text) => text !== undefined).join("; ")}`);
    process.exitCode = process.env["GRAPHFORM_ENGINE"] === "none" ? 0 : 1;
  } else {
    const line = `graphform: databases run on ${engine.name} ${engine.version} (${engine.why})`;
    console.log(wrapLines(line, process.stdout.columns));
  }
} catch (error) {
  console.error(
    `graphform: the engine cannot be set up: ${error instanceof Error ? error.message : String(error)}`,
  );
  process.exitCode = 1;
}
