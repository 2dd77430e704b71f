/** @module Prints the JSON Schemas that the package publishes. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { suggest } from "../manifest/nearest.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { packageRoot } from "../project/package-files.ts";
import type { Terminal } from "./terminal.ts";

/** Names of the published schemas. */
const published = ["manifest", "profile", "state"];

/** `schema NAME`: prints a JSON Schema (draft-07) for editors and scripts. Throws `schema-unknown`. */
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
