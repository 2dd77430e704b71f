/** @module Reads and writes the trace context that processes hand to each other. */
import { type Context, type SpanContext, trace } from "@opentelemetry/api";

const shape = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The context of `TRACEPARENT`; the one given where there is none, or it is malformed. */
export function parentOf(env: NodeJS.ProcessEnv, without: Context): Context {
  const [, traceId, spanId, flags] = shape.exec(env["TRACEPARENT"] ?? "") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return without;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return without;
  return trace.setSpanContext(without, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  });
}

/** A span as `TRACEPARENT` spells it. */
export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}
