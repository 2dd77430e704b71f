import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import standalone from "ajv/dist/standalone/index.js";
import { build } from "esbuild";
import { kinds } from "../src/kinds/index.ts";
import { manifestSchema } from "../src/manifest/manifest-schema.ts";
import { driftSchema } from "../src/report/drift-schema.ts";
import { documentKey, manifestAjv, resourceKey } from "./compile-validators.ts";

const root = join(import.meta.dirname, "..");

/**
 * Writes what is derived from the kinds' tables: the manifest's JSON Schema for editors, which is committed, and the
 * compiled validators, which are not. A file that would not change is left alone. `--generated` writes only what is not
 * committed, as every build does, so that a stale schema is found and not mended behind its author's back.
 */
if (!process.argv.includes("--generated")) {
  write("schemas/manifest.schema.json", `${JSON.stringify(manifestSchema(kinds.all), null, 2)}\n`);
  write("schemas/drift.schema.json", `${JSON.stringify(driftSchema, null, 2)}\n`);
}
write("src/manifest/validators.generated.js", await compiledValidators());
write("src/manifest/validators.generated.d.ts", declaration());

/** Ajv's standalone code in one module: its run-time functions are bundled in, so that nothing of Ajv is loaded. */
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
  const result = await build({
    stdin: { contents: entry, resolveDir: root, loader: "js" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node22.19",
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: "warning",
  });
  return `// Emitted by scripts/emit.ts.\n${result.outputFiles.map(({ text }) => text).join("")}`;
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

function write(path: string, text: string): void {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
