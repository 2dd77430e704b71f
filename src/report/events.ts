/** @module Builds the lines of the event stream in the shape of Terraform's UI stream. */

import { type Address, parseAddress } from "../model/address.ts";
import type { GraphformError } from "../model/errors.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Problem } from "../model/problem.ts";
import { escapeText } from "./escape.ts";
import { diagnosticOf } from "./problems-json.ts";
import { type KindNames, typeOf } from "./words.ts";

/** Returns the time of an event, ISO 8601. Callers pass it in: reports do not read the clock. */
export type Stamp = () => string;

/** Severity of a line. */
export type Level = "info" | "warn" | "error";

/** One line of the stream. `message` may contain text of the service; it is escaped. */
export function uiEvent(
  level: Level,
  type: string,
  message: string,
  payload: JsonObject,
  stamp: Stamp,
): JsonObject {
  return {
    "@level": level,
    "@message": escapeText(message),
    "@module": "graphform.ui",
    "@timestamp": stamp(),
    type,
    ...payload,
  };
}

/** The first line of every stream. `version` is that of graphform, `ui` that of the stream format. */
export function versionEvent(version: string, stamp: Stamp): JsonObject {
  return uiEvent("info", "version", `graphform ${version}`, { graphform: version, ui: "1.2" }, stamp);
}

/** Problems of the manifest, one line each. */
export function problemEvents(problems: readonly Problem[], stamp: Stamp): readonly JsonObject[] {
  return problems.map((problem) => {
    const level = problem.severity === "error" ? "error" : "warn";
    const title = level === "error" ? "Error" : "Warning";
    return uiEvent(
      level,
      "diagnostic",
      `${title}: ${problem.message}`,
      { diagnostic: diagnosticOf(problem) },
      stamp,
    );
  });
}

/** An error as a diagnostic. */
export function errorEvent({ message, hint = "", code, exitCode }: GraphformError, stamp: Stamp): JsonObject {
  const notice = { summary: message, detail: hint, x_graphform: { code, exit_code: exitCode } };
  return noticeEvent("error", notice, stamp);
}

/** A diagnostic without a position in the manifest. */
export function noticeEvent(
  level: "warn" | "error",
  notice: {
    readonly summary: string;
    readonly detail?: string;
    readonly address?: string;
    readonly x_graphform?: Json;
  },
  stamp: Stamp,
): JsonObject {
  const severity = level === "error" ? "error" : "warning";
  const diagnostic = {
    severity,
    ...notice,
    summary: escapeText(notice.summary),
    detail: escapeText(notice.detail ?? ""),
  };
  const title = level === "error" ? "Error" : "Warning";
  return uiEvent(level, "diagnostic", `${title}: ${notice.summary}`, { diagnostic }, stamp);
}

/** The `resource` object of an event, in the shape of Terraform's stream. */
export function eventResource(address: Address, kind: string, names: KindNames): JsonObject {
  const parts = parseAddress(address);
  return {
    addr: address,
    module: "",
    resource: address,
    implied_provider: "graphform",
    resource_type: typeOf(kind, names),
    resource_name: parts?.name ?? address,
    resource_key: parts?.key ?? null,
  };
}
