import { controllerSchema } from "../src/controller/config/config.ts";
import { components } from "../src/controller/http/documents.ts";
import { builtInProfiles, loadProfile } from "../src/hosting/profile/load-profile.ts";
import { profileSchema } from "../src/hosting/profile/profile-schema.ts";
import { kinds } from "../src/kinds/index.ts";
import { stateSchema } from "../src/state/state-schema.ts";
import { schemaText, writeEmitted } from "./compiled-module.ts";
import { layerSchema, manifestSchema, suggestionsOf } from "./editor-schema.ts";
import { eventSchema } from "./event-schema.ts";
import { planSchema } from "./plan-schema.ts";
import { driftSchema, replaceSchema, severalSchema, validationSchema } from "./report-schemas.ts";

/** Writes the JSON Schemas for editors and other programs. They suggest values of the emitted profiles. */
const suggestions = suggestionsOf(await Promise.all(builtInProfiles.map(loadProfile)));
/** The documents of the controller's API, which `fleet --json` prints; each command's is the one of its endpoint. */
const fleet = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "graphform fleet, version 1",
  anyOf: ["Manifests", "Runs", "RunDetails", "Added", "Asked", "Done", "Drift", "Locks", "Redriven"].map(
    (name) => ({
      $ref: `#/definitions/${name}`,
    }),
  ),
  definitions: JSON.parse(JSON.stringify(components).replaceAll("#/components/schemas/", "#/definitions/")),
};
const schemas = {
  manifest: manifestSchema(kinds.all, suggestions),
  layer: layerSchema(kinds.all, suggestions),
  profile: profileSchema,
  state: stateSchema,
  plan: planSchema,
  event: eventSchema,
  drift: driftSchema,
  validation: validationSchema,
  several: severalSchema(),
  replace: replaceSchema,
  fleet,
  controller: controllerSchema,
};
for (const [name, schema] of Object.entries(schemas))
  writeEmitted(`schemas/${name}.schema.json`, schemaText(schema));
