/** @module Prints the JSON Schemas that the package publishes. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { suggest } from "../manifest/problems/nearest.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { own } from "../model/json.ts";
import { packageRoot } from "../project/package-files.ts";
import type { Invocation } from "./with-run.ts";

/** Names of the published schemas, with their files. */
const files: { readonly [name: string]: string } = {
  manifest: "manifest.schema.json",
  layer: "layer.schema.json",
  profile: "profile.schema.json",
  plan: "plan.schema.json",
  drift: "drift.schema.json",
  validation: "validation.schema.json",
  several: "several.schema.json",
  events: "event.schema.json",
  state: "state.schema.json",
};

/** Names of all schemas. */
export const schemaNames: readonly string[] = Object.keys(files);

/** `schema NAME`: prints a JSON Schema (draft-07) for editors and scripts. Throws `schema-unknown`. */
export async function schema({ terminal }: Invocation<object>, name: string): Promise<number> {
  const file = own(files, name);
  if (file === undefined) {
    throw new GraphformError("schema-unknown", `there is no schema "${name}"`, {
      hint: suggest(name, Object.keys(files), "schemas are"),
    });
  }
  terminal.out(await readFile(join(packageRoot, "schemas", file), "utf8"));
  return exitCodes.done;
}
