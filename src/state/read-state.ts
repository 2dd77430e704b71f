/** @module Reads a state strictly: a document that is cut, damaged, newer or of another manifest is refused. */
import { parseAddress } from "../model/address.ts";
import { GraphformError } from "../model/errors.ts";
import { isObject, jsonIn, nestingOf } from "../model/json.ts";
import type { StateDocument } from "../model/state.ts";
import { violationText } from "../model/violation.ts";
import { isMoved, refusalOf } from "./moved.ts";
import { foldLog, writtenByNewer } from "./state-log.ts";
import { validators } from "./validators.generated.js";

/**
 * Reads a state strictly, with its log if its version needs one. Throws `state-truncated`, `state-foreign` (not ours, or not as we
 * write it), `state-newer`, `state-moved`, `state-moving`, `state-name` or `state-log-*`; the caller must leave the files alone then.
 * `file` is for messages; without a `name` any manifest's state will do.
 */
export function readState(text: string, file: string, name?: string, log?: string): StateDocument {
  const value = jsonIn(text);
  if (value === undefined && isCutShort(text))
    throw new GraphformError("state-truncated", `the state ${file} is not whole: its end is missing`, {
      hint: remedyFor(file),
    });
  if (value === undefined) throw foreign(file, "it is not JSON");
  if (!isObject(value) || typeof value["lineage"] !== "string" || typeof value["name"] !== "string")
    throw foreign(file, "it is not a state of graphform");
  if (isMoved(value)) throw refusalOf(value, file);
  const { version } = value;
  if (typeof version === "number" && version !== 2 && version !== 3) throw unknownFormat(file, version);
  const document = checked(value, file);
  if (name !== undefined && document.name !== name) throw misnamed(file, document.name, name);
  if (version !== 3) return document;
  return checked(foldLog({ ...document, version: 2 }, log, file), file);
}

function checked(document: unknown, file: string): StateDocument {
  if (!validators.state(document)) {
    const [error] = validators.state.errors ?? [];
    const wrong = error === undefined ? "it is not a state of graphform" : violationText(error, document);
    if (error?.keyword === "additionalProperties") throw writtenByNewer(`the state ${file}`, wrong);
    throw foreign(file, wrong);
  }
  const addresses = Object.keys({ ...document.resources, ...document.intents });
  const odd = addresses.find((address) => parseAddress(address) === undefined);
  if (odd !== undefined) throw foreign(file, `${JSON.stringify(odd)} is not an address`);
  return document;
}

function foreign(file: string, why: string): GraphformError {
  return new GraphformError("state-foreign", `${file} cannot be read as a state: ${why}`, {
    hint: `it was left as it is; name another location with --state, or: ${remedyFor(file)}`,
  });
}

function unknownFormat(file: string, version: number): GraphformError {
  const why = `it has format ${version}, and this graphform knows 2 and 3`;
  if (version > 3) return writtenByNewer(`the state ${file}`, why);
  return new GraphformError("state-foreign", `${file} cannot be read as a state: ${why}`, {
    hint: "it was left as it is, with the ids of what exists: move it away, and bind that with graphform import before anything is applied",
  });
}

/** The refusal of a state that has another name than the manifest. */
export function misnamed(file: string, found: string, name: string): GraphformError {
  const message = `the state ${file} belongs to "${found}", and the manifest is "${name}"`;
  const hint = "give the manifest the name that it had, or name another location with --state";
  return new GraphformError("state-name", message, { hint });
}

function remedyFor(file: string): string {
  return `put a copy in its place (${file}.backup, if it is there), or move it away and bind what exists with graphform import`;
}

/** True for a text whose end is missing: nothing, or zeros (what a power failure leaves), or a JSON object that is never closed. */
export function isCutShort(text: string): boolean {
  const whole = text.replaceAll("\0", "").trim();
  return whole === "" || (whole.startsWith("{") && nestingOf(whole).isOpen);
}
