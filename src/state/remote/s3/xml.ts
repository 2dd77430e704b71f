/** @module Reads the XML of S3 and STS. */
import { XMLParser } from "fast-xml-parser";
import { isObject, type JsonObject } from "../../../model/json.ts";

/** Values stay texts: a version id of digits is no number. */
const parser = new XMLParser({ ignoreAttributes: true, parseTagValue: false, processEntities: true });

/** The members of an element at a path; empty where there is none, or the text is no XML. */
export function element(xml: string, ...path: readonly string[]): JsonObject {
  try {
    let value: unknown = parser.parse(xml);
    for (const name of path) value = isObject(value) ? value[name] : undefined;
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** The text of a member; undefined where there is none. */
export function textOf(members: JsonObject, name: string): string | undefined {
  const value = members[name];
  return typeof value === "string" ? value : undefined;
}

/** The members of that name that are elements: one alone is no list in XML. */
export function elementsOf(members: JsonObject, name: string): readonly JsonObject[] {
  const value = members[name];
  return (Array.isArray(value) ? value : [value]).filter(isObject);
}
