/** @module Adds `drift` to the command line. */
import { type Command, Option } from "commander";
import { changing, collectAddress, type Registration, withManifestOptions } from "../options.ts";
import { withExamples, withoutEffect } from "../terminal/help.ts";
import type { DriftOptions } from "./reports.ts";

const examples = [
  ["graphform drift", "what was changed outside since the last apply"],
  ["graphform drift --unmanaged --json", "for a schedule: also what nobody declares"],
  ["graphform drift --html drift.html --junit drift.xml", "reports for people and for a pipeline"],
  ["graphform drift --chdir envs/test --chdir envs/prod", "two manifests, one summary, one exit code"],
  ["graphform drift --target instances.orders", "one resource, and what it refers to"],
  ["graphform drift --adopt instances.orders", "its live values go into the manifest"],
  ["graphform drift --adopt instances.orders.config.name", "one of them"],
] as const;

const exitCodeText = "\nExit codes: 0 no drift that matters, 2 drift, 1 it could not be looked at.";

/** Adds `drift`. */
export function addDriftCommand(program: Command, { settings, at, done, folders }: Registration): void {
  const command = program
    .command("drift")
    .description("show what was changed outside since the last apply; changes nothing");
  withExamples(withoutEffect(withManifestOptions(command), changing), examples)
    .option("--target <address>", "look at this and what it refers to only (repeatable)", collectAddress, [])
    .option("--exclude <address>", "leave this out (repeatable)", collectAddress, [])
    .option("--unmanaged", "also list what nobody declares; it counts as drift")
    .option("--verbose", "also list differences that do not matter")
    .option("--no-probe", "do not ask the running databases")
    .option("--json", "the report as JSON")
    .addOption(
      new Option("--adopt <address[.field]>", "write the live value into the manifest (repeatable)")
        .argParser(collectAddress)
        .default([])
        .conflicts(["json", "markdown", "html", "sarif", "junit", "prometheus"]),
    )
    .option("--markdown <file>", "write the drift in Markdown, for an issue or a comment")
    .option("--html <file>", "write the drift as a page for the browser: one file, nothing is loaded")
    .option("--sarif <file>", "write the drift in the format SARIF, for code scanning")
    .option("--junit <file>", "write a JUnit report: a case for each resource")
    .option("--prometheus <file>", "write metrics for the text file collector of Prometheus' node exporter")
    .addHelpText("after", exitCodeText)
    .action(async (options: DriftOptions & { color?: boolean }) => {
      if (folders().length > 1) {
        const { driftSeveral } = await import("../several/drift.ts");
        return done(await driftSeveral(folders(), options, settings, at(options)));
      }
      const { drift } = await import("./drift.ts");
      done(await drift(options, settings, at(options)));
    });
}
