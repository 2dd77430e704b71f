/** @module Defines the error formats of both hosts. */
import { errorBody } from "../model/service-error.ts";
import { errorMediaType } from "./contract.ts";

/** Name of a host, and the shape of its errors. */
export interface ErrorFormat {
  readonly name: "platform" | "users";
  readonly error: (status: number, message: string) => Response;
}

/** Errors of the platform host. */
export const platformErrorFormat: ErrorFormat = {
  name: "platform",
  error: (status, message) =>
    new Response(JSON.stringify(errorBody(status, message)), {
      status,
      headers: { "content-type": errorMediaType },
    }),
};

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
