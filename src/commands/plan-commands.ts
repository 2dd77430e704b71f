/** @module Lists the commands that plan and apply. */
import { Option } from "commander";
import { typedAddress } from "../model/address.ts";
import { argument, type CommandEntry, command, json, repeatable } from "./define-command.ts";
import type { ImportOptions } from "./import/import-one.ts";
import { changing, collectAddress, withManifestOptions, withPlanOptions } from "./options.ts";

export const commandsOfPlans: readonly CommandEntry[] = [
  command("validate", "check a manifest without any network", {
    shared: withManifestOptions,
    ineffective: [...changing, "--state"],
    options: [
      json("diagnostics as JSON"),
      ["--sarif <file>", "write the problems in the format SARIF, for code scanning"],
      ["--online", "ask the service too what it offers today"],
    ],
    load: async () => (await import("./validate.ts")).validate,
  }),
  command("plan", "compare the manifest with the service; changes nothing", {
    shared: withPlanOptions,
    ineffective: changing,
    examples: [
      ["graphform plan", "all that would happen, worst first"],
      [
        "graphform plan --out .graphform/shop.plan",
        "save it: `graphform apply .graphform/shop.plan` does that and nothing else",
      ],
      ["graphform plan --detailed-exitcode", "for scripts: exit 2 if there are changes"],
      ["graphform plan --target instances.orders", "one resource, and what it refers to"],
      ["graphform plan --json | jq .resource_changes", "for machines, in the shape of Terraform's plans"],
      ["graphform plan --chdir envs/test --chdir envs/prod", "two manifests, one summary, one exit code"],
    ],
    options: [
      json("the plan as JSON"),
      ["--out <file>", "save the plan for apply"],
      ["--sarif <file>", "write changes, guards and drift in the format SARIF, for code scanning"],
      ["--markdown <file>", "write the plan in Markdown, for a comment on a pull request"],
      ["--gitlab <file>", "write the number of changes for GitLab's merge requests"],
      ["--destroy", "plan the removal of everything that this state owns, as destroy does it"],
      ["--html <file>", "write the plan as a page for the browser: one file, nothing is loaded"],
      ["--compare <planfile>", "say on that page how this plan differs from a saved one"],
      ["--detailed-exitcode", "exit 2 if there are changes"],
    ],
    load: async () => (await import("./plan-command.ts")).plan,
  }),
  command("apply", "plan, confirm, apply, converge and verify", {
    shared: withPlanOptions,
    examples: [
      ["graphform apply", "plan, ask, apply, wait, and make sure that a second plan is empty"],
      ["graphform apply .graphform/shop.plan", "a saved plan, without asking"],
      ["graphform apply --auto-approve --max-disruption restart", "in pipelines: a restart at worst"],
      ["graphform apply --replace instances.cache", "a new, empty database in its place"],
    ],
    arguments: [["[planfile]", "a plan that was saved with plan --out"]],
    options: [
      ["--auto-approve", "do not ask"],
      ["--replan", "show the plan that would be made now if the saved one is out of date"],
      new Option(...json("events as JSON lines")).conflicts("replan"),
    ],
    load: async () => (await import("./apply.ts")).apply,
  }),
  command("destroy", "remove everything that this state owns", {
    shared: withPlanOptions,
    options: [["--auto-approve", "do not ask"], json("events as JSON lines")],
    load: async () => (await import("./apply.ts")).destroy,
  }),
  command("drift", "show what was changed outside since the last apply; changes nothing", {
    shared: withManifestOptions,
    ineffective: changing,
    examples: [
      ["graphform drift", "what was changed outside since the last apply"],
      ["graphform drift --unmanaged --json", "for a schedule: also objects that are not declared"],
      ["graphform drift --html drift.html --junit drift.xml", "reports for people and for a pipeline"],
      ["graphform drift --chdir envs/test --chdir envs/prod", "two manifests, one summary, one exit code"],
      ["graphform drift --target instances.orders", "one resource, and what it refers to"],
      ["graphform drift --adopt instances.orders", "its live values go into the manifest"],
      ["graphform drift --adopt instances.orders.config.name", "one of them"],
    ],
    after: "\nExit codes: 0 no drift that matters, 2 drift, 1 it could not be looked at.",
    options: [
      repeatable(
        "--target <address>",
        "look at this and what it refers to only (repeatable)",
        collectAddress,
      ),
      repeatable("--exclude <address>", "leave this out (repeatable)", collectAddress),
      ["--unmanaged", "also list objects that are not declared; they count as drift"],
      ["--verbose", "also list differences that do not matter"],
      ["--no-probe", "do not ask the running databases"],
      json("the report as JSON"),
      repeatable(
        "--adopt <address[.field]>",
        "write the live value into the manifest (repeatable)",
        collectAddress,
      ).conflicts(["json", "markdown", "html", "sarif", "junit", "prometheus"]),
      ["--markdown <file>", "write the drift in Markdown, for an issue or a comment"],
      ["--html <file>", "write the drift as a page for the browser: one file, nothing is loaded"],
      ["--sarif <file>", "write the drift in the format SARIF, for code scanning"],
      ["--junit <file>", "write a JUnit report: a case for each resource"],
      ["--prometheus <file>", "write metrics for the text file collector of Prometheus' node exporter"],
    ],
    load: async () => (await import("./drift/drift-command.ts")).drift,
  }),
  command("import", "bind what exists: one object, or a manifest for everything", {
    shared: withManifestOptions,
    examples: [
      ["graphform import instances.orders instance-k2j4", "bind an object to an address of the manifest"],
      ["graphform import --all", "print a manifest of everything live; nothing is bound"],
      ["graphform import --all --out graphform.yaml --name shop", "write it, and bind everything"],
    ],
    arguments: [
      argument("[address]", "a declared address", typedAddress),
      ["[id]", "the id of the object to bind it to"],
    ],
    options: [
      ["--all", "write a manifest for everything that is live"],
      [
        "--out <file>",
        "with --all: write it there and bind everything (default: standard output, nothing bound)",
      ],
      ["--name <name>", "with --all: the manifest's name (default: imported)"],
      ["--users", "with --all: database users too, as comments, since no service shows their passwords"],
    ],
    load: async ({ all }: ImportOptions) =>
      all === true
        ? (await import("./import/import-all.ts")).importAll
        : (await import("./import/import-one.ts")).importOne,
  }),
];
