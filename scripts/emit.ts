import standalone from "ajv/dist/standalone/index.js";
import { kinds } from "../src/kinds/index.ts";
import { documentKey, manifestAjv, resourceKey } from "./compile-validators.ts";
import { compiledModule, writeEmitted } from "./compiled-module.ts";

/** Writes the compiled validators of the kinds' tables. A file that would not change is left alone. */
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
    'import type { Validators } from "./source.ts";',
    "/** The compiled schemas of the kinds in `kinds/index.ts`. */",
    "export declare const validators: Validators;",
    "",
  ].join("\n");
}
