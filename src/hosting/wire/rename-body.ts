import type { Json, JsonObject } from "../../model/json.ts";
import { isObject } from "../../model/json.ts";

/** A body in the service's spelling. `names` maps our keys, dotted where they stand deeper, to single keys of theirs. */
export function renameBody(body: JsonObject, names: { readonly [name: string]: string }): JsonObject {
  return Object.keys(names).length === 0 ? body : renamed(body, names, "");
}

function renamed(body: JsonObject, names: { readonly [name: string]: string }, prefix: string): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]): [string, Json] => {
      const path = `${prefix}${key}`;
      const name = Object.hasOwn(names, path) ? names[path] : undefined;
      return [name ?? key, isObject(value) ? renamed(value, names, `${path}.`) : value];
    }),
  );
}
