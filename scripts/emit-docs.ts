import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pages } from "./pages.ts";

/** Writes the generated pages: the field table, and the tree of `src`. */
for (const [path, text] of Object.entries(pages()))
  writeFileSync(join(import.meta.dirname, "..", path), text);
