/** @module Reads the objects of each place; refused reads are reported with their reason. */
import { GraphformError, isGraphformError, isServiceError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Kind, LeftOut, Reader } from "../../model/kind.ts";
import { placeText } from "../../model/object-key.ts";
import type { Live } from "../../model/observed.ts";
import type { Reads } from "../../model/service.ts";

/** An object of the service, declared or not. */
export interface Found {
  readonly kind: Kind;
  readonly place: JsonObject;
  readonly live: Live;
}

/** Objects that were read, and objects that could not be read. */
export interface Discovery {
  readonly found: readonly Found[];
  readonly leftOut: readonly LeftOut[];
}

/** Merges several results into one. */
export function merged(parts: readonly Discovery[]): Discovery {
  return {
    found: parts.flatMap((part) => part.found),
    leftOut: parts.flatMap((part) => part.leftOut),
  };
}

/** Objects of one place; `refusal` is set if its list was refused. */
export interface PlaceDiscovery extends Discovery {
  readonly refusal?: Error;
}

/** Lists each place, and reads every object there that is not known. */
export async function readPlaces(
  kind: Kind,
  places: readonly JsonObject[],
  known: ReadonlySet<string>,
  service: Reads,
  signal: AbortSignal,
): Promise<readonly PlaceDiscovery[]> {
  const reader = kind.reader(service);
  const readPlace = async (place: JsonObject): Promise<PlaceDiscovery> => {
    const what = placeText(kind.name, place);
    try {
      const ids = await reader.list(place, signal);
      const more = { what, reason: "the service has possibly more than it lists" };
      const { found, leftOut } = merged(
        await Promise.all(
          ids.filter((id) => !known.has(id)).map((id) => readObject(kind, reader, place, id, signal)),
        ),
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
  return Promise.all(places.map(readPlace));
}

/** Reads one listed object; on failure its id is in `leftOut`. */
export async function readObject(
  kind: Kind,
  reader: Reader,
  place: JsonObject,
  id: string,
  signal: AbortSignal,
): Promise<Discovery> {
  const ref = { id, place: withIdPart(kind, place, id) };
  try {
    const live = await reader.get(ref, signal);
    if (live === undefined)
      return {
        found: [],
        leftOut: [{ what: id, reason: "it is listed, but it was gone when it was read" }],
      };
    if (live.phase.isLeaving === true)
      return { found: [], leftOut: [{ what: id, reason: "it is being deleted" }] };
    // The plan of a failed object would not be empty: it contains a restart or another repair.
    if (live.phase.is === "failed")
      return {
        found: [],
        leftOut: [
          {
            what: id,
            reason: `it is ${live.phase.detail}; once it is ready: graphform import ADDRESS ${id}`,
          },
        ],
      };
    return { found: live.phase.is === "gone" ? [] : [{ kind, place: ref.place, live }], leftOut: [] };
  } catch (error) {
    // `invalid` means that graphform sent a wrong request: that would fail for every object.
    if (!isServiceError(error) || ["aborted", "invalid"].includes(error.failure)) throw error;
    return { found: [], leftOut: [{ what: id, reason: error.message }] };
  }
}

/** True for a refused list, or one that this customer does not have; false for a refused read of one object. */
export function isRefusal(error: unknown): error is Error {
  if (isServiceError(error)) return error.failure !== "aborted" && /\.list$/.test(error.operation);
  return isGraphformError(error) && ["no-account-resource", "subscription-ambiguous"].includes(error.code);
}

/** Adds to the place the name from an id `host/name`: the request of the list did not contain it. */
function withIdPart(kind: Kind, place: JsonObject, id: string): JsonObject {
  const own = Object.entries(kind.schema.properties).find(
    ([path, row]) =>
      row["x-place"] === true &&
      row["x-reference"] === undefined &&
      place[path] === undefined &&
      path !== "id",
  );
  return own === undefined ? place : { ...place, [own[0]]: id.slice(id.indexOf("/") + 1) };
}

/** Error `import-usage`; its hint shows both forms of the command. */
export function usageError(message: string): GraphformError {
  return new GraphformError("import-usage", message, {
    hint: "graphform import instances.orders instance-abc, or graphform import --all --out graphform.yaml",
  });
}
