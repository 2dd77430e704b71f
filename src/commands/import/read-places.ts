/** @module Looks at the objects of places, one by one; what is refused is left out with its reason. */
import { isGraphformError, isServiceError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Kind, LeftOut, Reader } from "../../model/kind.ts";
import type { Live } from "../../model/observed.ts";
import type { Reads } from "../../model/service.ts";

/** An object that the service has, whoever declares it. */
export interface Found {
  readonly kind: Kind;
  readonly place: JsonObject;
  readonly live: Live;
}

/** What there is, and what could not be looked at. */
export interface Discovery {
  readonly found: readonly Found[];
  readonly leftOut: readonly LeftOut[];
}

/** Several looks as one. */
export function together(parts: readonly Discovery[]): Discovery {
  return {
    found: parts.flatMap((part) => part.found),
    leftOut: parts.flatMap((part) => part.leftOut),
  };
}

/** What a place shows; its refusal where it could not be listed. */
export interface Looked extends Discovery {
  readonly refusal?: Error;
}

/** What each of the places shows. */
export async function lookAt(
  kind: Kind,
  places: readonly JsonObject[],
  service: Reads,
  signal: AbortSignal,
): Promise<readonly Looked[]> {
  const reader = kind.reader(service);
  const look = async (place: JsonObject): Promise<Looked> => {
    const what = `${kind.name} of ${Object.values(place).join(" ") || "the service"}`;
    try {
      const ids = await reader.list(place, signal);
      const more = { what, reason: "the service has possibly more than it lists" };
      const { found, leftOut } = together(
        await Promise.all(ids.map((id) => lookAtOne(kind, reader, place, id, signal))),
      );
      return {
        found,
        leftOut: reader.isPartial?.(place) === true ? [...leftOut, more] : leftOut,
      };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { found: [], leftOut: [{ what, reason: error.message }], refusal: error };
    }
  };
  return Promise.all(places.map(look));
}

/** One object of a list; one that cannot be looked at is left out by its id. */
export async function lookAtOne(
  kind: Kind,
  reader: Reader,
  place: JsonObject,
  id: string,
  signal: AbortSignal,
): Promise<Discovery> {
  const ref = { id, place: withOwn(kind, place, id) };
  try {
    const live = await reader.get(ref, signal);
    if (live === undefined)
      return {
        found: [],
        leftOut: [{ what: id, reason: "it is listed, and not there when it is looked at" }],
      };
    if (live.phase.isLeaving === true)
      return { found: [], leftOut: [{ what: id, reason: "it is being deleted" }] };
    // A plan of it would not be empty: it asks for a restart, or for whatever else is the way out.
    if (live.phase.is === "failed")
      return {
        found: [],
        leftOut: [
          { what: id, reason: `it is ${live.phase.detail}; once it is well: graphform import ADDRESS ${id}` },
        ],
      };
    return { found: live.phase.is === "gone" ? [] : [{ kind, place: ref.place, live }], leftOut: [] };
  } catch (error) {
    // A request that the service calls wrong is a mistake of ours, and not for one object alone.
    if (!isServiceError(error) || ["aborted", "invalid"].includes(error.failure)) throw error;
    return { found: [], leftOut: [{ what: id, reason: error.message }] };
  }
}

/** A list that is refused, or that this customer does not have. What is refused of one object it shows is no part of this. */
export function isRefusal(error: unknown): error is Error {
  if (isServiceError(error)) return error.failure !== "aborted" && /\.list$/.test(error.operation);
  return isGraphformError(error) && ["no-account-resource", "subscription-ambiguous"].includes(error.code);
}

/** An id `host/name` carries the part of its place that the list did not ask for. */
function withOwn(kind: Kind, place: JsonObject, id: string): JsonObject {
  const own = Object.entries(kind.schema.properties).find(
    ([path, row]) =>
      row["x-place"] === true &&
      row["x-reference"] === undefined &&
      place[path] === undefined &&
      path !== "id",
  );
  return own === undefined ? place : { ...place, [own[0]]: id.slice(id.indexOf("/") + 1) };
}
