import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");

/** One module of Ajv's standalone code: its run-time functions are bundled in, so that nothing of Ajv is loaded. */
export async function compiledModule(contents: string, script: string): Promise<string> {
  const result = await build({
    stdin: { contents, resolveDir: root, loader: "js" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node22.19",
    minifySyntax: true,
    logLevel: "warning",
  });
  return `// Emitted by scripts/${script}.\n${result.outputFiles.map(({ text }) => text).join("")}`;
}

/** Writes an emitted file, by its path in the repository; one that would not change is left alone. */
export function writeEmitted(path: string, text: string): void {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** The text of a published schema. */
export function schemaText(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}
