/** @module Adds `ci comment` and `ci issue` to the command line. */
import { type Command, InvalidArgumentError } from "commander";
import type { Registration } from "../options.ts";
import { withExamples } from "../terminal/help.ts";
import type { CommentOptions } from "./comment.ts";
import type { IssueOptions } from "./issue.ts";

/** Adds the commands that pipelines run beside plan, apply and drift. */
export function addCiCommands(program: Command, { settings, at, done }: Registration): void {
  const ci = program
    .command("ci")
    .description("for pipelines: a comment with the plan, an issue with the drift");
  const key = "what the marker names, so that an invalid manifest updates the same text (default: its name)";
  withExamples(
    ci.command("comment").description("show a report in one comment on the pull or merge request"),
    [
      ["graphform ci comment plan.md", "GITHUB_TOKEN or GITLAB_TOKEN signs in"],
      ["graphform ci comment plan.md --key shop", "one comment for each key"],
    ],
  )
    .argument("<report>", "what plan --markdown wrote")
    .option("--key <key>", key)
    .action(async (report: string, options: CommentOptions) => {
      const { comment } = await import("./comment.ts");
      done(await comment(report, options, settings, at({})));
    });
  withExamples(ci.command("issue").description("keep one issue about drift: opened, updated, closed"), [
    ["graphform ci issue drift.md --exitcode 2", "opens the issue, or updates it"],
    ["graphform ci issue drift.md --exitcode 0", "closes it"],
  ])
    .argument("<report>", "what drift --markdown wrote")
    .requiredOption("--exitcode <code>", "exit code of drift", exitcode)
    .option("--key <key>", key)
    .action(async (report: string, options: IssueOptions) => {
      const { issue } = await import("./issue.ts");
      done(await issue(report, options, settings, at({})));
    });
}

function exitcode(text: string): string {
  if (!/^[0-9]{0,3}$/.test(text)) throw new InvalidArgumentError("it must be a number.");
  return text;
}
