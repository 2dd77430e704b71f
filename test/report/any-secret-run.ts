import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT_CONTEXT } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { driftReport } from "../../src/commands/drift/drift-reports.ts";
import { planReport } from "../../src/commands/plan-command.ts";
import { applyReport } from "../../src/commands/reports/apply-report.ts";
import { writeReports } from "../../src/commands/reports/write-reports.ts";
import type { Terminal } from "../../src/commands/terminal/terminal.ts";
import { runListener } from "../../src/commands/with-run.ts";
import type { ApplyEvent, StepOutcome } from "../../src/model/outcome.ts";
import { settingsOf } from "../../src/project/settings.ts";
import { redactDrift, redactPlan } from "../../src/report/redact.ts";
import { measureRun, traceSteps } from "../../src/telemetry/open-telemetry.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { Made } from "./any-secret.ts";
import { words } from "./words.ts";

/** What the commands write besides their reports: the terminal, the log, the files of a step of GitHub Actions, and the telemetry. */
export async function runsOf(made: Made): Promise<{ readonly [name: string]: string }> {
  const folder = temporaryFolder("any-secret");
  try {
    const file = (name: string): string => join(folder, name);
    const written = { terminal: "", log: "" };
    const print = (text: string): void => {
      written.terminal += text;
    };
    const terminal: Terminal = {
      ...{ out: print, err: print, interactive: false, colour: false, width: 80 },
      confirm: () => Promise.resolve(false),
      log: (line) => {
        written.log += `${line}\n`;
      },
    };
    const settings = settingsOf({
      GITHUB_ACTIONS: "true",
      GITHUB_OUTPUT: file("outputs"),
      GITHUB_STEP_SUMMARY: file("summary"),
    });
    const context = { manifest: [], settings, terminal };
    const of = { folder: ".", name: "shop", is: "made" } as const;
    const plan = { plan: redactPlan(made.plan, words) };
    await writeReports([{ ...of, value: plan }], planReport({}, terminal), context);
    const drift = redactDrift(made.drift, words);
    await writeReports([{ ...of, value: drift }], driftReport({}, settings, terminal), context);
    const telemetry = await telemetryOf(() => {
      applied(made, terminal);
    });
    const [outputs, summary] = await Promise.all(
      ["outputs", "summary"].map((name) => readFile(file(name), "utf8")),
    );
    const all = { ...written, outputs: outputs ?? "", summary: summary ?? "", telemetry };
    return Object.fromEntries(Object.entries(all).map(([name, text]) => [name, withoutTimes(text)]));
  } finally {
  }
}

/** Reports an apply of the plan, as the command does. */
function applied({ plan, outcome }: Made, terminal: Terminal): void {
  const report = applyReport(false, terminal);
  const { request } = runListener({ trace: true }, terminal);
  report.plan(plan);
  for (const { key, address, kind, operation } of plan.steps) {
    const step = { key, address, kind, operation };
    const ended: StepOutcome = { ...step, result: "done", id: "object-1", elapsed: 2000 };
    const events: readonly ApplyEvent[] = [
      { type: "step-start", ...step },
      { type: "step-progress", ...step, elapsed: 1000, detail: "DEPLOYING" },
      { type: "step-end", outcome: ended },
    ];
    for (const event of events) report.event(event);
    request("PUT /objects/object-1 200 4 ms");
  }
  report.outcome(outcome);
  report.end(1);
}

/** The spans and metrics of what is done, without their ids and times. */
async function telemetryOf(work: () => void): Promise<string> {
  const spans = new InMemorySpanExporter();
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const tracing = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] });
  const metering = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 })],
  });
  const stop = traceSteps(tracing.getTracer("test"), ROOT_CONTEXT);
  const measure = measureRun(metering.getMeter("test"), "apply");
  work();
  stop();
  measure.end(1, 2);
  await Promise.all([tracing.forceFlush(), metering.forceFlush()]);
  const finished = spans.getFinishedSpans().map(({ name, attributes, events, status }) => ({
    ...{ name, attributes, events, status },
  }));
  const points = metrics.getMetrics().flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap((scope) =>
      scope.metrics.map(({ descriptor, dataPoints }) => ({
        name: descriptor.name,
        points: dataPoints.map(({ attributes, value }) => ({ attributes, value })),
      })),
    ),
  );
  await Promise.all([tracing.shutdown(), metering.shutdown()]);
  return JSON.stringify({ finished, points }, undefined, 1);
}

function withoutTimes(text: string): string {
  return text.replaceAll(/"@timestamp":"[^"]*"/g, '"@timestamp":""');
}
