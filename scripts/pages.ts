import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { publishedPipelines } from "../src/commands/init/pipelines.ts";
import { environmentPage } from "./environment-page.ts";
import { fieldPage } from "./field-page.ts";
import { manifestPage } from "./manifest-page.ts";
import { type Source, treePage } from "./source-tree.ts";

const root = join(import.meta.dirname, "..");

/** The generated pages and pipelines as they should be: path from the root of the repository -> text. */
export function pages(): { readonly [path: string]: string } {
  return {
    "docs/environment.md": environmentPage(),
    "docs/fields.md": fieldPage(),
    "docs/manifest.md": manifestPage(root),
    "docs/tree.md": treePage(sources()),
    ...publishedPipelines(),
  };
}

/** Every source file that people write, in the order of their paths. */
export function sources(): readonly Source[] {
  return globSync("src/**/*.ts", { cwd: root })
    .filter((path) => !path.includes(".generated."))
    .map((path) => path.replaceAll("\\", "/"))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}
