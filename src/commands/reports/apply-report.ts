/** @module Prints the plan, the progress and the result of an apply, as text or as JSON lines. */
import { kinds } from "../../kinds/index.ts";
import { type ExitCode, type GraphformError, ManifestError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { ApplyEvent, Outcome } from "../../model/outcome.ts";
import type { Plan } from "../../model/plan.ts";
import { packageVersion } from "../../project/package-files.ts";
import type { RunReport } from "../../reconcile/reconcile.ts";
import { type Command, outcomeText, progressText } from "../../report/apply-text.ts";
import {
  applyEvent,
  errorEvent,
  outcomeEvents,
  planEvents,
  problemEvents,
  stamped,
  versionEvent,
} from "../../report/events.ts";
import { type RedactedOutcome, type RedactedPlan, redactOutcome, redactPlan } from "../../report/redact.ts";
import { reportText } from "../../report/text/report-text.ts";
import { jsonText, makePalette } from "../../report/typeset.ts";
import { planView } from "../../report/view/plan-view.ts";
import { stepEvents } from "../../telemetry/channels.ts";
import type { LiveView } from "../terminal/live-view.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Receives everything that an apply reports while it runs. */
export interface ApplyReport extends RunReport {
  /** Draws the run on a terminal; undefined if nothing is drawn. */
  readonly view: LiveView | undefined;
  readonly event: (event: ApplyEvent) => void;
  /** Keeps the outcome until the end of the run, which may still fail. */
  outcome(outcome: Outcome): void;
  /** Writes the outcome, if there is one, with the exit code that the run ends with. */
  end(exitCode: ExitCode | undefined): void;
  /** Writes an error that ended the run to the JSON stream; the text for people is printed elsewhere. */
  error(error: GraphformError): void;
}

/** Reports as JSON lines on standard output, or as text, with progress on standard error. The log gets JSON lines in both cases. */
export function applyReport(
  asJson: boolean,
  terminal: Terminal,
  command: Command = "apply",
  view?: LiveView,
): ApplyReport {
  const warnings: string[] = [];
  const { log } = terminal;
  let kept: Outcome | undefined;
  const outputs = [
    asJson ? jsonReport((line) => terminal.out(`${line}\n`), command) : textReport(terminal, command, view),
    ...(log === undefined ? [] : [jsonReport(log, command)]),
  ];
  const toAll = (send: (output: Output) => void): void => {
    for (const output of outputs) send(output);
  };
  return {
    view,
    plan: (plan: Plan) => {
      const shown = redactPlan(plan, kinds);
      toAll((output) => output.plan(shown));
    },
    event: (event) => {
      stepEvents.publish(event);
      if (event.type === "warning")
        warnings.push(event.address === undefined ? event.message : `${event.address}: ${event.message}`);
      toAll((output) => output.event(event));
    },
    begin: (steps, usual) => toAll((output) => output.begin?.(steps, usual)),
    outcome: (outcome) => {
      kept = outcome;
    },
    end: (exitCode) => {
      const outcome = kept && { ...kept, exitCode: exitCode ?? kept.exitCode };
      kept = undefined;
      if (outcome !== undefined) toAll((output) => output.outcome(redactOutcome(outcome, kinds)));
    },
    error: (error) => toAll((output) => output.error(error)),
    warnings: () => warnings,
  };
}

interface Output extends Pick<ApplyReport, "event" | "begin" | "error"> {
  plan(plan: RedactedPlan): void;
  outcome(outcome: RedactedOutcome): void;
}

/** Text; with a view, only the ends of steps and warnings are printed, above what the view draws. */
function textReport(terminal: Terminal, command: Command, view: LiveView | undefined): Output {
  const end = (): void => view?.clear();
  const line = (text: string): void => terminal.err(`${text}\n`);
  const page = { palette: makePalette(terminal.colour), width: terminal.width };
  return {
    plan(plan) {
      end();
      terminal.out(reportText(planView(plan, { command }), page));
    },
    begin: (steps, usual) => view?.begin(steps, usual),
    event(event) {
      const isDrawn = event.type === "step-start" || event.type === "step-progress";
      if (view?.isDrawn !== true || !isDrawn) line(progressText(event, page.palette));
      view?.event(event);
    },
    outcome(outcome) {
      end();
      terminal.out(outcomeText(outcome, page, command));
    },
    error: end,
  };
}

/** Reports steps that no plan made: JSON lines on standard output, or text on standard error. */
export function stepReport(asJson: boolean, terminal: Terminal): Pick<Output, "event" | "error"> {
  const palette = makePalette(terminal.colour);
  const print = (event: JsonObject): void => terminal.out(`${jsonText(stamped(event, Date.now()))}\n`);
  return asJson
    ? { event: (event) => print(applyEvent(event, kinds)), error: (error) => print(errorEvent(error)) }
    : { event: (event) => terminal.err(`${progressText(event, palette)}\n`), error: () => undefined };
}

function jsonReport(line: (text: string) => void, command: Command): Output {
  let isBegun = false;
  const write = (events: readonly JsonObject[]): void => {
    const head = isBegun ? [] : [versionEvent(packageVersion())];
    isBegun = true;
    for (const event of [...head, ...events]) line(jsonText(stamped(event, Date.now())));
  };
  return {
    plan: (plan) => write(planEvents(plan, kinds)),
    event: (event) => write([applyEvent(event, kinds)]),
    // Each warning was written to the stream when it was raised.
    outcome: (outcome) => write(outcomeEvents({ ...outcome, warnings: [] }, command)),
    error: (error) =>
      write(error instanceof ManifestError ? problemEvents(error.problems) : [errorEvent(error)]),
  };
}
