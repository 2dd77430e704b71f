/** @module Makes a span of each step of an apply. */
import { type Context, type Span, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { stepEvents } from "./channels.ts";
import { listen } from "./listen.ts";

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
    if (event["type"] === "step-end" && typeof event["outcome"] === "object") {
      const outcome: { readonly [key: string]: unknown } = { ...event["outcome"] };
      const span = open.get(outcome["key"]);
      if (span === undefined) return;
      open.delete(outcome["key"]);
      span.setAttribute("graphform.result", String(outcome["result"]));
      if (outcome["result"] === "failed") span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    }
  });
}
