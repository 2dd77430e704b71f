/** @module Decides whether a run is traced and measured. */
import type { Telemetry } from "./open-telemetry.ts";

/** Opens traces and metrics if the standard variables of OpenTelemetry ask for them; otherwise it loads nothing. */
export async function telemetryFor(command: string, env: NodeJS.ProcessEnv): Promise<Telemetry | undefined> {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return undefined;
  const traces = isAsked(env, "TRACES");
  const metrics = isAsked(env, "METRICS");
  if (!traces && !metrics) return undefined;
  const { openTelemetry } = await import("./open-telemetry.ts");
  return openTelemetry({ command, env, traces, metrics });
}

function isAsked(env: NodeJS.ProcessEnv, signal: "TRACES" | "METRICS"): boolean {
  const exporter = env[`OTEL_${signal}_EXPORTER`];
  if (exporter !== undefined && exporter !== "") return exporter.split(",").includes("otlp");
  const endpoints = [env["OTEL_EXPORTER_OTLP_ENDPOINT"], env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]];
  return endpoints.some((endpoint) => endpoint !== undefined && endpoint !== "");
}
