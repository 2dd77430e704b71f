/** @module Refuses an answer that is about another object than the request. */
import { ServiceError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";

/** Throws the failure `shape` where an answer shows the id of another object than the one that was asked about. */
export function assertSameObject(operation: string, asked: string, shown: Json | undefined): void {
  if (typeof shown !== "string" || shown === "" || shown === asked) return;
  const message = `${operation}: the answer is about another object than ${asked}`;
  throw new ServiceError("shape", operation, message, { mayHaveWorked: false });
}
