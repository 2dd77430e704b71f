/** @module Sends the traces and metrics of one run to an OpenTelemetry collector over OTLP. */
import { performance } from "node:perf_hooks";
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { manifestRead } from "./channels.ts";
import { metricExporter, traceExporter, unknownProtocol } from "./exporters.ts";
import { listen } from "./listen.ts";
import { measureRun } from "./measure-run.ts";
import { resultOf } from "./run-result.ts";
import { parentOf, traceparentOf } from "./trace-parent.ts";
import { traceRequests } from "./trace-requests.ts";
import { traceSteps } from "./trace-steps.ts";

/** A run that is traced and measured. */
export interface Telemetry {
  /** Ends it and sends what is left, within three seconds. Resolves to the reason where that failed. */
  end(exitCode: number): Promise<string | undefined>;
}

interface Request {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
  readonly traces: boolean;
  readonly metrics: boolean;
}

/** Longest wait for the collector at the end of a run, in ms. */
const patience = 3000;

/**
 * Begins the run's span, as a child of `TRACEPARENT` where that is set, and sets `TRACEPARENT` to it for the programs that
 * this run starts. Names follow the semantic conventions for CI/CD. No value of a field is ever sent.
 */
export function openTelemetry({ command, env, traces, metrics }: Request): Telemetry {
  const resource = defaultResource().merge(
    resourceFromAttributes({ "service.name": env["OTEL_SERVICE_NAME"] ?? "graphform" }),
  );
  const unknown = unknownProtocol(env);
  const isSpoken = unknown === undefined;
  const tracing =
    traces && isSpoken
      ? new TracerProvider({
          resource,
          spanProcessors: [new BatchSpanProcessor({ exporter: traceExporter(env) })],
        })
      : undefined;
  const metering =
    metrics && isSpoken
      ? new MeterProvider({
          resource,
          readers: [new PeriodicExportingMetricReader({ exporter: metricExporter(env) })],
        })
      : undefined;
  const began = performance.now();
  const run = tracing === undefined ? undefined : beginRun(tracing.getTracer("graphform"), command, env);
  const measure = metering === undefined ? undefined : measureRun(metering.getMeter("graphform"), command);
  return {
    async end(exitCode) {
      run?.end(exitCode);
      measure?.end(exitCode, (performance.now() - began) / 1000);
      if (unknown !== undefined)
        return `the protocol ${unknown} is not spoken; set OTEL_EXPORTER_OTLP_PROTOCOL to http/json or http/protobuf`;
      return sent([tracing?.shutdown(), metering?.shutdown()]);
    },
  };
}

/** Begins the run's span and those of its requests and steps. */
function beginRun(tracer: Tracer, command: string, env: NodeJS.ProcessEnv): { end(exitCode: number): void } {
  const attributes = { "cicd.pipeline.action.name": "SYNC", "graphform.command": command };
  const parent: Context = parentOf(env, ROOT_CONTEXT);
  const span = tracer.startSpan(`SYNC ${command}`, { kind: SpanKind.SERVER, attributes }, parent);
  const within = trace.setSpan(parent, span);
  env["TRACEPARENT"] = traceparentOf(span.spanContext());
  const stop = [
    listen(manifestRead, (message) => {
      const name = String(message["name"]);
      span.updateName(`SYNC ${name}`);
      span.setAttribute("cicd.pipeline.name", name);
    }),
    traceRequests(tracer, within),
    traceSteps(tracer, within),
  ];
  return {
    end(exitCode) {
      for (const end of stop) end();
      const result = resultOf(exitCode);
      span.setAttributes({ "cicd.pipeline.result": result, "process.exit.code": exitCode });
      if (result !== "success") span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

async function sent(ends: readonly (Promise<void> | undefined)[]): Promise<string | undefined> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve("the collector did not answer in time"), patience);
  try {
    const all = Promise.all(ends).then(() => undefined);
    return await Promise.race([all, late.promise]);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}
