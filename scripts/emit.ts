import process from "node:process";
import standalone from "ajv/dist/standalone/index.js";
import { builtInProfiles, loadProfile } from "../src/hosting/profile/load-profile.ts";
import { kinds } from "../src/kinds/index.ts";
import { layerSchema, manifestSchema } from "../src/manifest/schema/manifest-schema.ts";
import { driftSchema } from "../src/report/drift-schema.ts";
import { documentKey, manifestAjv, resourceKey } from "./compile-validators.ts";
import { compiledModule, schemaText, writeEmitted } from "./compiled-module.ts";
import { severalSchema, validationSchema } from "./several-schema.ts";
import { suggestionsOf } from "./suggestions.ts";

/**
 * Writes what is derived from the kinds' tables: the manifest's JSON Schema for editors, which is committed, and the
 * compiled validators, which are not. A file that would not change is left alone. `--generated` writes only what is not
 * committed, as every build does, so that a stale schema is found and not mended behind its author's back.
 */
if (!process.argv.includes("--generated")) {
  const suggestions = suggestionsOf(await Promise.all(builtInProfiles.map(loadProfile)));
  writeEmitted("schemas/manifest.schema.json", schemaText(manifestSchema(kinds.all, suggestions)));
  writeEmitted("schemas/layer.schema.json", schemaText(layerSchema(kinds.all, suggestions)));
  writeEmitted("schemas/drift.schema.json", schemaText(driftSchema));
  writeEmitted("schemas/validation.schema.json", schemaText(validationSchema()));
  writeEmitted("schemas/several.schema.json", schemaText(severalSchema()));
}
writeEmitted("src/manifest/validators.generated.js", await compiledValidators());
writeEmitted("src/manifest/validators.generated.d.ts", declaration());

async function compiledValidators(): Promise<string> {
  const keys = [documentKey, ...kinds.all.map(({ name }) => resourceKey(name))];
  const code = standalone.default(manifestAjv(kinds.all), Object.fromEntries(keys.map((key) => [key, key])));
  const resources = kinds.all.map(
    ({ name }) => `${JSON.stringify(name)}: violationsOf(${resourceKey(name)})`,
  );
  const entry = [
    'import { violationsOf } from "./scripts/violations-of.ts";',
    code.replace(/^"use strict";/, "").replace(/\bexport const (\w+) = /g, "const $1 = "),
    `export const validators = { document: violationsOf(${documentKey}), resources: { ${resources.join(", ")} } };`,
  ].join("\n");
  return compiledModule(entry, "emit.ts");
}

function declaration(): string {
  return [
    "// Emitted by scripts/emit.ts.",
    'import type { Validators } from "./validators.ts";',
    "/** The compiled schemas of the kinds in `kinds/index.ts`. */",
    "export declare const validators: Validators;",
    "",
  ].join("\n");
}
