import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pages } from "./pages.ts";

/** Writes the generated pages, such as the field table and the tree of `src`, and the pipelines that the package publishes. */
for (const [path, text] of Object.entries(pages()))
  writeFileSync(join(import.meta.dirname, "..", path), text);
