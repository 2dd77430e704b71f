/** @module Sends the traces and metrics of one run to an OpenTelemetry collector over OTLP. */
import { type Channel, channel } from "node:diagnostics_channel";
import { performance } from "node:perf_hooks";
import {
  type Context,
  type Meter,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";
import { OTLPMetricExporter as JsonMetrics } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtobufMetrics } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter as JsonTraces } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufTraces } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { isObject } from "../model/json.ts";
import { manifestRead, resultOf, stepEvents } from "./channels.ts";

export interface Telemetry {
  /** Ends it and sends what is left, within three seconds. Resolves to the reason if that failed. */
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

/** Begins the run's span within `TRACEPARENT`, which it sets for programs of this run. No value of a field is ever sent. */
export function openTelemetry({ command, env, traces, metrics }: Request): Telemetry {
  const resource = defaultResource().merge(
    resourceFromAttributes({ "service.name": env["OTEL_SERVICE_NAME"] ?? "graphform" }),
  );
  // A protocol that is not spoken here: `grpc` for example.
  const unknown = [protocolOf(env, "TRACES"), protocolOf(env, "METRICS")].find(
    (protocol) => !["", "http/json", "http/protobuf"].includes(protocol),
  );
  const isSpoken = unknown === undefined;
  const spans = isProtobuf(env, "TRACES") ? ProtobufTraces : JsonTraces;
  const tracing =
    traces && isSpoken
      ? new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter: new spans() })] })
      : undefined;
  const meters = isProtobuf(env, "METRICS") ? ProtobufMetrics : JsonMetrics;
  const metering =
    metrics && isSpoken
      ? new MeterProvider({
          resource,
          readers: [new PeriodicExportingMetricReader({ exporter: new meters() })],
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

function beginRun(tracer: Tracer, command: string, env: NodeJS.ProcessEnv): { end(exitCode: number): void } {
  const attributes = { "cicd.pipeline.action.name": "SYNC", "graphform.command": command };
  const caller = parseTraceParent(env["TRACEPARENT"] ?? "");
  const parent =
    caller === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true });
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

function isProtobuf(env: NodeJS.ProcessEnv, signal: "TRACES" | "METRICS"): boolean {
  return protocolOf(env, signal) === "http/protobuf";
}

function protocolOf(env: NodeJS.ProcessEnv, signal: "TRACES" | "METRICS"): string {
  const own = env[`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`] ?? "";
  return own === "" ? (env["OTEL_EXPORTER_OTLP_PROTOCOL"] ?? "") : own;
}

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
      if (type !== "step-end" || !isObject(outcome)) return;
      const { operation, result } = outcome;
      steps.add(1, { operation: String(operation), result: String(result) });
    }),
    listen(channel("undici:request:headers"), ({ request, response }) => {
      if (!isObject(request) || !isObject(response)) return;
      requests.add(1, {
        "http.request.method": String(request["method"]),
        "http.response.status_code": Number(response["statusCode"]),
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

/** Begins a span with each step and ends it with the step. Returns the function that stops it. */
export function traceSteps(tracer: Tracer, within: Context): () => void {
  const open = new Map<unknown, Span>();
  return listen(stepEvents, (event) => {
    if (event["type"] === "step-start") {
      const attributes = {
        "cicd.pipeline.task.name": String(event["operation"]),
        "graphform.address": String(event["address"]),
      };
      const name = `${String(event["operation"])} ${String(event["address"])}`;
      open.set(event["key"], tracer.startSpan(name, { attributes }, within));
    }
    const { outcome } = event;
    if (event["type"] === "step-end" && isObject(outcome)) {
      const span = open.get(outcome["key"]);
      if (span === undefined) return;
      open.delete(outcome["key"]);
      span.setAttribute("graphform.result", String(outcome["result"]));
      if (outcome["result"] === "failed") span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    }
  });
}

/** Traces requests by the header `traceparent`, paths without query. Returns the function that stops it. */
function traceRequests(tracer: Tracer, within: Context): () => void {
  const open = new WeakMap<object, Span>();
  const ended = (request: unknown, status: number | undefined): void => {
    const span = isObject(request) ? open.get(request) : undefined;
    if (span === undefined) return;
    if (status !== undefined) span.setAttribute("http.response.status_code", status);
    if (status === undefined || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };
  const stop = [
    listen(channel("undici:request:create"), ({ request }) => {
      if (!isObject(request)) return;
      const { method, origin, path } = request;
      const span = tracer.startSpan(
        String(method),
        {
          kind: SpanKind.CLIENT,
          attributes: {
            "http.request.method": String(method),
            "server.address": URL.canParse(String(origin)) ? new URL(String(origin)).hostname : "",
            "url.path": String(path).split("?")[0] ?? "",
          },
        },
        within,
      );
      open.set(request, span);
      const add: unknown = request["addHeader"];
      if (typeof add === "function") add.call(request, "traceparent", traceparentOf(span.spanContext()));
    }),
    listen(channel("undici:request:headers"), ({ request, response }) => {
      ended(request, isObject(response) ? Number(response["statusCode"]) : undefined);
    }),
    listen(channel("undici:request:error"), ({ request }) => ended(request, undefined)),
  ];
  return () => {
    for (const end of stop) end();
  };
}

function listen(channel: Channel, heard: (message: { readonly [key: string]: unknown }) => void): () => void {
  const onMessage = (message: unknown): void => {
    if (isObject(message)) heard(message);
  };
  channel.subscribe(onMessage);
  return () => void channel.unsubscribe(onMessage);
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}
