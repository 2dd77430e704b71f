/** @module Makes a span of each request to the service. */
import { channel } from "node:diagnostics_channel";
import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { listen } from "./listen.ts";
import { traceparentOf } from "./trace-parent.ts";

/**
 * Begins a span with each request that the HTTP client publishes, hands it on by the header `traceparent`, and ends it with
 * the answer. Paths are sent without their query. Returns the function that stops it.
 */
export function traceRequests(tracer: Tracer, within: Context): () => void {
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
      const { method, origin, path }: { method?: unknown; origin?: unknown; path?: unknown } = request;
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
      if ("addHeader" in request && typeof request.addHeader === "function")
        request.addHeader("traceparent", traceparentOf(span.spanContext()));
    }),
    listen(channel("undici:request:headers"), ({ request, response }) => {
      const status = isObject(response) && "statusCode" in response ? Number(response.statusCode) : undefined;
      ended(request, status);
    }),
    listen(channel("undici:request:error"), ({ request }) => ended(request, undefined)),
  ];
  return () => {
    for (const end of stop) end();
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
