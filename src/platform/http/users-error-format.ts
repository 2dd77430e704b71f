/** @module Defines the error body of the users host. */
import type { ErrorFormat } from "./error-format.ts";

const reasons: { readonly [status: number]: string } = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** Errors of the users host: `{statusCode, error, message}` as plain JSON. */
export const usersErrorFormat: ErrorFormat = {
  name: "users",
  error(status, message) {
    const body = { statusCode: status, error: reasons[status] ?? "Error", message: message.slice(0, 4000) };
    return new Response(JSON.stringify(body), {
      status,
      headers: { "content-type": "application/json; charset=utf-8" },
    });
  },
};
