/** @module Reads the serial out of a stored document. */
import { parsed } from "./lock-info.ts";

/** The serial at the top level of a document; undefined where it has none, or is not JSON. */
export function serialOf(text: string): number | undefined {
  const serial = parsed(text)["serial"];
  return typeof serial === "number" && Number.isSafeInteger(serial) ? serial : undefined;
}
