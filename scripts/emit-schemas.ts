import { controllerSchema } from "../src/controller/config/config-schema.ts";
import { builtInProfiles, loadProfile } from "../src/hosting/profile/load-profile.ts";
import { profileSchema } from "../src/hosting/profile/profile-schema.ts";
import { kinds } from "../src/kinds/index.ts";
import { layerSchema, manifestSchema } from "../src/manifest/schema/manifest-schema.ts";
import { driftSchema } from "../src/report/drift/drift-schema.ts";
import { stateSchema } from "../src/state/state-schema.ts";
import { schemaText, writeEmitted } from "./compiled-module.ts";
import { severalSchema, validationSchema } from "./several-schema.ts";
import { suggestionsOf } from "./suggestions.ts";

/** Writes the JSON Schemas for editors and other programs. They suggest values of the emitted profiles. */
const suggestions = suggestionsOf(await Promise.all(builtInProfiles.map(loadProfile)));
const schemas = {
  manifest: manifestSchema(kinds.all, suggestions),
  layer: layerSchema(kinds.all, suggestions),
  profile: profileSchema,
  state: stateSchema,
  drift: driftSchema,
  validation: validationSchema(),
  several: severalSchema(),
  controller: controllerSchema,
};
for (const [name, schema] of Object.entries(schemas))
  writeEmitted(`schemas/${name}.schema.json`, schemaText(schema));
