/** @module Listens to a channel of this process, and reads the trace that a caller passes on. */
import type { Channel } from "node:diagnostics_channel";
import { type Context, type SpanContext, trace } from "@opentelemetry/api";

/** Calls back with every message that is an object. Returns the function that ends it. */
export function listen(
  channel: Channel,
  heard: (message: { readonly [key: string]: unknown }) => void,
): () => void {
  const onMessage = (message: unknown): void => {
    if (typeof message === "object" && message !== null) heard({ ...message });
  };
  channel.subscribe(onMessage);
  return () => void channel.unsubscribe(onMessage);
}

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
