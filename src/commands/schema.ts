import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { suggest } from "../manifest/nearest.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { packageRoot } from "../project/package-files.ts";
import type { Terminal } from "./terminal.ts";

/** Schemas that the package publishes. */
const published = ["manifest", "profile", "state"];

/** `schema NAME`: a published JSON Schema (draft-07), as editors and scripts want it. */
export async function schema(name: string, terminal: Terminal): Promise<number> {
  if (!published.includes(name)) {
    throw new GraphformError("schema-unknown", `there is no schema "${name}"`, {
      hint: suggest(name, published, "schemas are"),
    });
  }
  terminal.out(await textOf(name));
  return exitCodes.done;
}

async function textOf(name: string): Promise<string> {
  if (name !== "state") return readFile(join(packageRoot, "schemas", `${name}.schema.json`), "utf8");
  const { stateSchema } = await import("../state/state-schema.ts");
  return `${JSON.stringify(stateSchema, null, 2)}\n`;
}
