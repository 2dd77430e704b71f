import type { FieldSchema, KindSchema } from "./field-schema.ts";
import type { Json } from "./json.ts";
import { looksSame } from "./looks-same.ts";
import type { Live } from "./observed.ts";
import { serviceTime } from "./service-time.ts";
import type { Intent, StateDocument } from "./state.ts";

/** How far the service's clock and ours may be apart, in ms. */
const skew = 15 * 60_000;

/** Ids that were not there when the create was announced and that nobody is bound to, each once. */
export function unclaimed(
  intent: Intent,
  listed: readonly string[],
  state: StateDocument,
): readonly string[] {
  const bound = new Set(Object.values(state.resources).map((entry) => entry.id));
  const before = new Set(intent.before);
  return [...new Set(listed)].filter((id) => !before.has(id) && !bound.has(id));
}

/** True where no field that the object shows speaks against it being what the intent created. */
export function couldBe(live: Live, intent: Intent, schema: KindSchema): boolean {
  if (live.phase.is === "gone") return false;
  return Object.entries(live.spec).every(([path, seen]) => {
    const wanted = intent.recorded[path];
    if (wanted === undefined || typeof wanted === "object" || seen.source === "recorded") return true;
    return isSilent(rowAt(schema, path), wanted) || looksSame(lower(wanted), lower(seen.value));
  });
}

/** True where its creation time, if it says one, does not speak against it either. */
export function isTimely(live: Live, intent: Intent): boolean {
  const created = serviceTime(live.createdAt);
  return created === undefined || created >= Date.parse(intent.startedAt) - skew;
}

/**
 * Fields that say nothing: a reference is a name here and an id there, a verb may be due yet, a default may be another
 * one than the specification's, and spellings that only planning knows are not compared here.
 */
function isSilent(row: FieldSchema, wanted: Json): boolean {
  const spelled = row["x-compare"] !== undefined && row["x-compare"] !== "size";
  return (
    row["x-reference"] !== undefined || row["x-operations"] !== undefined || row.default === wanted || spelled
  );
}

/** Providers and regions are written either way. */
function lower(value: Json): Json {
  return typeof value === "object" ? value : String(value).toLowerCase();
}

function rowAt(schema: FieldSchema, path: string): FieldSchema {
  return path.split(".").reduce<FieldSchema>((row, key) => row.properties?.[key] ?? {}, schema);
}
