/** @module Reads the name, environment, service and state of a manifest before anything is resolved. */
import type { JsonObject } from "../model/json.ts";
import { isObject } from "../model/json.ts";
import type { Header, ServiceSection } from "../model/manifest.ts";
import type { Problem } from "../model/problem.ts";
import { type HeadInputs, type ManifestHead, readManifestHead } from "./manifest-head.ts";
import { finishProblems } from "./problems/finish-problems.ts";
import { plainFields } from "./problems/plain-fields.ts";
import type { Parsed } from "./source.ts";

/**
 * Returns the header wherever name, service and state are valid, even if other parts have errors. `resolveManifest` reports
 * everything that this reports, and more.
 */
export function readHeader(
  parsed: Parsed,
  inputs: HeadInputs,
): { readonly header?: Header; readonly problems: readonly Problem[] } {
  const head = parsed.value === undefined ? undefined : readManifestHead(parsed, parsed.value, inputs);
  const findings = [...parsed.findings, ...(head?.findings ?? [])];
  const problems = finishProblems(
    findings,
    "error",
    parsed.layers,
    plainFields(parsed.value, inputs.kinds.all),
  );
  const header = head === undefined ? undefined : headerOf(head);
  return header === undefined ? { problems } : { header, problems };
}

/** The header of a head, or undefined where one of its parts is wrong. */
export function headerOf(head: ManifestHead): Header | undefined {
  const name = head.value["name"];
  const needed = ["apiVersion", "name", "environment", "service", "state"];
  if (typeof name !== "string" || needed.some((key) => head.broken.has(key))) return undefined;
  const service = head.value["service"];
  const { state, environment } = head.value;
  const header = {
    name,
    state: isObject(state) ? state : {},
    ...(typeof environment === "string" ? { environment } : {}),
  };
  return isObject(service) ? { ...header, service: serviceOf(service) } : header;
}

function serviceOf(section: JsonObject): ServiceSection {
  const { subscriptions } = section;
  return {
    ...textsOf(section),
    ...(isObject(subscriptions) ? { subscriptions: textsOf(subscriptions) } : {}),
  };
}

function textsOf(section: JsonObject): { readonly [name: string]: string } {
  const texts = Object.entries(section).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return Object.fromEntries(texts);
}
