/** @module Adds the commands about the local platform to the command line. */
import type { Command } from "commander";
import { localPlatformDir } from "../../project/local-platform.ts";
import type { Registration } from "../options.ts";
import { withExamples } from "../terminal/help.ts";

/** Adds `platform setup|up|down|status|open`. */
export function addPlatformCommands(program: Command, { settings, at, done }: Registration): void {
  const platform = program
    .command("platform")
    .description("the hosting service on this machine, with real databases");
  platform
    .command("setup")
    .description("fetch what databases run on (graph module and server), where this machine has none")
    .addHelpText("after", setupHelp)
    .action(async () => {
      const { platformSetup } = await import("./setup.ts");
      done(await platformSetup(settings.environment(), at({})));
    });
  const up = platform
    .command("up")
    .description(
      "start it; further options go to its program (--profile falkordb-cloud, --delay, --faults FILE, ...)",
    );
  withExamples(up, [
    ["graphform platform up --detach", "start it, and return when it is ready; `platform down` stops it"],
    ["graphform platform up --profile falkordb-cloud", "speak the API of FalkorDB Cloud"],
    ["graphform platform up --delay create=2000", "let each create take two seconds"],
    ["graphform platform up --engine none", "without databases, where no engine can be had"],
  ])
    .option("--data-dir <dir>", "where it keeps everything", localPlatformDir)
    .option("--json", "print one JSON line when ready")
    .option("--detach", "return when ready and leave it running")
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (options: { dataDir: string; json?: boolean; detach?: boolean }, command: Command) => {
      const { platformUp } = await import("./up.ts");
      const { dataDir, json = false, detach = false } = options;
      done(await platformUp({ dataDir, json, detach, settings, rest: command.args }, at({})));
    });
  platform
    .command("down")
    .description("stop it and keep the data")
    .option("--data-dir <dir>", "where it keeps everything", localPlatformDir)
    .action(async (options: { dataDir: string }) => {
      const { platformDown } = await import("./down.ts");
      done(await platformDown(options.dataDir, at({})));
    });
  platform
    .command("status")
    .description("whether it runs, and where")
    .option("--data-dir <dir>", "where it keeps everything", localPlatformDir)
    .option("--json", "as JSON")
    .action(async (options: { dataDir: string; json?: boolean }) => {
      const { platformStatus } = await import("./status.ts");
      done(await platformStatus(options.dataDir, options.json ?? false, at({})));
    });
  platform
    .command("open")
    .description("print a link that signs in to its page once, and open it where there is a browser")
    .option("--data-dir <dir>", "where it keeps everything", localPlatformDir)
    .option("--no-browser", "print the link alone")
    .action(async (options: { dataDir: string; browser: boolean }) => {
      const { platformOpen } = await import("./open.ts");
      done(await platformOpen(options, settings, at({})));
    });
}

const setupHelp = `
The graph module comes from the npm registry that npm is configured with, in one
version whose hash is compared; a server, where the packaged one does not run
here, from the Debian archives that apt is configured with. Nothing of the
system changes and no root rights are needed; everything is kept in
$XDG_CACHE_HOME/graphform/engine (default ~/.cache/graphform/engine). A second
run fetches nothing. Linux on x64 only. GRAPHFORM_MODULE and GRAPHFORM_ENGINE
name files of your own instead.`;
