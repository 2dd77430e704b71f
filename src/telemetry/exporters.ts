/** @module Makes the exporters of traces and metrics for the protocol that the standard variables name. */
import { OTLPMetricExporter as JsonMetrics } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtobufMetrics } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter as JsonTraces } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufTraces } from "@opentelemetry/exporter-trace-otlp-proto";

/** The exporter of spans. */
export function traceExporter(env: NodeJS.ProcessEnv): JsonTraces | ProtobufTraces {
  return isProtobuf(env, "TRACES") ? new ProtobufTraces() : new JsonTraces();
}

/** The exporter of metrics. */
export function metricExporter(env: NodeJS.ProcessEnv): JsonMetrics | ProtobufMetrics {
  return isProtobuf(env, "METRICS") ? new ProtobufMetrics() : new JsonMetrics();
}

/** The protocol that a variable names and that is not spoken here, `grpc` for example; undefined where there is none. */
export function unknownProtocol(env: NodeJS.ProcessEnv): string | undefined {
  const named = [protocolOf(env, "TRACES"), protocolOf(env, "METRICS")];
  return named.find((protocol) => !["", "http/json", "http/protobuf"].includes(protocol));
}

function isProtobuf(env: NodeJS.ProcessEnv, signal: "TRACES" | "METRICS"): boolean {
  return protocolOf(env, signal) === "http/protobuf";
}

function protocolOf(env: NodeJS.ProcessEnv, signal: "TRACES" | "METRICS"): string {
  const own = env[`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`] ?? "";
  return own === "" ? (env["OTEL_EXPORTER_OTLP_PROTOCOL"] ?? "") : own;
}
