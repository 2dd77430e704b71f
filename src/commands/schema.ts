/** @module Prints the JSON Schemas that the package publishes. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { suggest } from "../manifest/nearest.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { packageRoot } from "../project/package-files.ts";
import type { Terminal } from "./terminal.ts";

/** Names of the published schemas, with their files; that of the state is made. */
const files: { readonly [name: string]: string | undefined } = {
  manifest: "manifest.schema.json",
  profile: "profile.schema.json",
  plan: "plan.schema.json",
  drift: "drift.schema.json",
  events: "event.schema.json",
  state: undefined,
};

/** `schema NAME`: prints a JSON Schema (draft-07) for editors and scripts. Throws `schema-unknown`. */
export async function schema(name: string, terminal: Terminal): Promise<number> {
  if (!Object.hasOwn(files, name)) {
    throw new GraphformError("schema-unknown", `there is no schema "${name}"`, {
      hint: suggest(name, Object.keys(files), "schemas are"),
    });
  }
  terminal.out(await textOf(name));
  return exitCodes.done;
}

async function textOf(name: string): Promise<string> {
  const file = files[name];
  if (file !== undefined) return readFile(join(packageRoot, "schemas", file), "utf8");
  const { stateSchema } = await import("../state/state-schema.ts");
  return `${JSON.stringify(stateSchema, null, 2)}\n`;
}
