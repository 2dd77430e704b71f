/** @module Measures a run: its duration, its requests, its steps. */
import { channel } from "node:diagnostics_channel";
import type { Meter } from "@opentelemetry/api";
import { manifestRead, stepEvents } from "./channels.ts";
import { listen } from "./listen.ts";
import { resultOf } from "./run-result.ts";

/** Counts what a run does until it ends. Names are those of the semantic conventions for CI/CD, ours begin with "graphform". */
export function measureRun(meter: Meter, command: string): { end(exitCode: number, seconds: number): void } {
  const duration = meter.createHistogram("cicd.pipeline.run.duration", { unit: "s" });
  const errors = meter.createCounter("cicd.pipeline.run.errors", { unit: "{error}" });
  const steps = meter.createCounter("graphform.apply.steps", { unit: "{step}" });
  const requests = meter.createCounter("graphform.api.requests", { unit: "{request}" });
  let name = command;
  const stop = [
    listen(manifestRead, (message) => {
      name = String(message["name"]);
    }),
    listen(stepEvents, ({ type, outcome }) => {
      if (type !== "step-end" || typeof outcome !== "object") return;
      const { operation, result }: { operation?: unknown; result?: unknown } = { ...outcome };
      steps.add(1, { operation: String(operation), result: String(result) });
    }),
    listen(channel("undici:request:headers"), ({ request, response }) => {
      const { method }: { method?: unknown } = { ...(request ?? {}) };
      const { statusCode }: { statusCode?: unknown } = { ...(response ?? {}) };
      requests.add(1, {
        "http.request.method": String(method),
        "http.response.status_code": Number(statusCode),
      });
    }),
  ];
  return {
    end(exitCode, seconds) {
      for (const end of stop) end();
      const result = resultOf(exitCode);
      const attributes = { "cicd.pipeline.name": name, "graphform.command": command };
      duration.record(seconds, { ...attributes, "cicd.pipeline.result": result });
      if (result !== "success") errors.add(1, { ...attributes, "error.type": `exit ${exitCode}` });
    },
  };
}
