/** @module Lists, reads, creates, changes and deletes a resource by its operations, and spells its fields for bodies and from answers. */
import { safeText } from "../hosting/wire/parse-json.ts";
import { mayBeMore } from "../hosting/wire/read-answer.ts";
import type { Values } from "../hosting/wire/spelling.ts";
import { isServiceError } from "../model/errors.ts";
import { type FieldSchema, fieldRows, type KindSchema } from "../model/field-schema.ts";
import {
  defined,
  isObject,
  type Json,
  type JsonObject,
  objectsIn,
  own,
  stableJson,
  textIn,
} from "../model/json.ts";
import type { Driver, Kind, Reader } from "../model/kind.ts";
import type { Live, Owner, Phase, Ref, Seen } from "../model/observed.ts";
import { perObject } from "../model/once.ts";
import type { Reads, Service } from "../model/service.ts";
import type { Spec } from "../model/spec.ts";

export type Params = { readonly [name: string]: string };

export type ParamsAt = (place: JsonObject, signal: AbortSignal) => Params | Promise<Params>;

/** Reads by the operations that list and describe. `live` translates an answer. */
export function resourceReader(
  { operations, describedBy }: Pick<Kind, "operations" | "describedBy">,
  service: Reads,
  paramsAt: ParamsAt,
  live: (ref: Ref, values: Values, signal: AbortSignal) => Live | Promise<Live>,
): Reader {
  const { list: operation } = operations;
  const isListed = service.offers(operation);
  return {
    isListed,
    async list(place, signal) {
      if (!isListed) return [];
      const { values } = await service.read({ operation, params: await paramsAt(place, signal) }, signal);
      notePartial(service, place, values);
      return listedIds(values);
    },
    isPartial: (place) => wasPartial(service, place),
    get: (ref, signal) =>
      unlessMissing(async () => {
        const params = { ...(await paramsAt(ref.place, signal)), id: ref.id };
        const { values } = await service.read({ operation: describedBy, params }, signal);
        return live(ref, values, signal);
      }),
  };
}

/** Writes by the operations of a kind, with the bodies that the field table spells; `bodyOf` is that of a create. */
export function resourceWriter(
  { operations, schema, place }: Pick<Kind, "operations" | "schema" | "place">,
  service: Service,
  paramsAt: ParamsAt,
  bodyOf: (spec: Spec, owner?: Owner) => JsonObject = (spec) => toWire(schema, spec, service),
): Pick<Driver, "create" | "update" | "delete"> {
  const on = async (ref: Ref, signal: AbortSignal): Promise<Params> => ({
    ...(await paramsAt(ref.place, signal)),
    id: ref.id,
  });
  return {
    async create(spec, signal, owner) {
      const params = await paramsAt(place(spec), signal);
      const call = { operation: operations.create, params, body: bodyOf(spec, owner) };
      return String((await service.write(call, signal)).values["id"]);
    },
    async update(ref, patch, signal) {
      const body = toWire(schema, patch, service);
      await service.write({ operation: operations.update, params: await on(ref, signal), body }, signal);
    },
    async delete(ref, signal) {
      await service.write({ operation: operations.delete, params: await on(ref, signal) }, signal);
    },
  };
}

/** The name of a field on the wire, in the dialect of the profile. */
export function wireName(path: string, row: FieldSchema, { profile }: Pick<Reads, "profile">): string {
  const name = row["x-wire"] ?? path.slice(path.lastIndexOf(".") + 1);
  return own(profile.fields, name) ?? name;
}

/** The body of a create or an update: deployment fields at the top, settings inside requestParams. */
export function toWire(schema: KindSchema, spec: Spec, service: Pick<Reads, "profile">): JsonObject {
  const body: Record<string, Json> = {};
  const requestParams: Record<string, Json> = {};
  for (const [path, row] of fieldRows(schema)) {
    const [value, part] = [spec[path], partOfRequest(path, row)];
    if (value === undefined || part === undefined) continue;
    (part === "body" ? body : requestParams)[wireName(path, row, service)] = value;
  }
  return Object.keys(requestParams).length === 0 ? body : { ...body, requestParams };
}

function partOfRequest(path: string, row: FieldSchema): "body" | "requestParams" | undefined {
  if (!isSetting(row) || row["x-in"] === "metadata") return undefined;
  return row["x-in"] ?? (path.startsWith("config.") ? "requestParams" : "body");
}

/** False for a part of the path of a resource, and for fields that operations change. */
function isSetting(row: FieldSchema): boolean {
  return row["x-place"] !== true && row["x-operations"] === undefined;
}

/** The fields that an answer shows under their own paths, or repeats among the request's parameters; no secrets. */
export function fromWire(
  schema: KindSchema,
  values: Values,
  service: Pick<Reads, "profile">,
): { readonly [path: string]: Seen } {
  const echo = isObject(values["resultParams"]) ? values["resultParams"] : {};
  const spec: Record<string, Seen> = {};
  for (const [path, row] of shownRows(schema)) {
    const [described, echoed] = [own(values, path), own(echo, wireName(path, row, service))];
    if (isShown(described)) spec[path] = { value: described, source: "described" };
    else if (isShown(echoed)) spec[path] = { value: echoed, source: "echoed" };
  }
  return spec;
}

/** The rows of the fields that an answer may show. */
const shownRows = perObject((schema: KindSchema) =>
  [...fieldRows(schema)].filter(
    ([, row]) => row["x-secret"] !== true && row.type !== "object" && isSetting(row),
  ),
);

/** True for a value that an answer has: empty texts stand for values that are not set. */
export function isShown(value: Json | undefined): value is Json {
  return value !== undefined && value !== null && value !== "";
}

/** The result of a read; undefined if the object does not exist (404). */
export async function unlessMissing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isServiceError(error, "not-found")) return undefined;
    throw error;
  }
}

export function timesOf({ createdAt, modifiedAt }: Values): Pick<Live, "createdAt" | "modifiedAt"> {
  return defined({ createdAt: textIn(createdAt), modifiedAt: textIn(modifiedAt) });
}

/** The ids of a list answer: `ids` as they are, or the `id` of each of its `items`, as the profile reads them. */
function listedIds({ ids, items }: Values): readonly string[] {
  if (Array.isArray(ids)) return ids.map(String);
  return objectsIn(items)
    .map((item) => item["id"])
    .filter((id) => typeof id === "string" || typeof id === "number")
    .map(String);
}

/** Places whose last list was not all, by the service that was asked. */
const partialAt = perObject((_: Reads) => new Set<string>());

export function notePartial(service: Reads, place: JsonObject, values: Values): void {
  if (mayBeMore(values)) partialAt(service).add(stableJson(place));
  else partialAt(service).delete(stableJson(place));
}

export function wasPartial(service: Reads, place: JsonObject): boolean {
  return partialAt(service).has(stableJson(place));
}

/** The phase behind a status; an unknown one counts as pending. A profile may have other meanings for accounts. */
export function phaseOf(
  values: { readonly [name: string]: Json },
  { profile, hide }: Pick<Reads, "profile" | "hide">,
  of: "account" | "instance" = "instance",
): Phase {
  const status = typeof values["status"] === "string" ? values["status"] : "";
  if (status === "") return { is: "pending", detail: "without a status" };
  const special = of === "account" ? profile.accounts?.statuses : undefined;
  const is = own(special ?? {}, status.toUpperCase()) ?? own(profile.statuses, status.toUpperCase());
  if (is === undefined)
    return { is: "pending", detail: unknown(safeText(status, hide), profile.name), isUnnamed: true };
  if (is === "deleting") return { is: "pending", detail: status, isLeaving: true };
  const failure = is === "failed" && typeof values["failure"] === "string" ? `: ${values["failure"]}` : "";
  return { is, detail: `${status}${failure}` };
}

/** The status as an output: one that the profile does not name is a word of the service like any other. */
export function shownStatus(
  values: { readonly [name: string]: Json },
  service: Pick<Reads, "profile" | "hide">,
  of?: "account" | "instance",
): Json | undefined {
  const { status } = values;
  const isWord = typeof status === "string" && phaseOf(values, service, of).isUnnamed === true;
  return isWord ? service.hide(status) : status;
}

function unknown(status: string, profile: string): string {
  const word = status.slice(0, 60);
  return `${word}, which the profile ${profile} does not name; once it is known, add under statuses: { ${word}: ready | stopped | pending | failed }`;
}
