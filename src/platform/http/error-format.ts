/** @module Defines the error format of a host, and that of the platform host. */
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
