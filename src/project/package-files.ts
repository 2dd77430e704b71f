/** @module Locates files of the installed package. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isObject } from "../model/json.ts";

const here = fileURLToPath(import.meta.url);

/** The folder with package.json, also when this file is part of a bundle. */
const packageRoot: string = above(dirname(here));

/** The program of the local platform: the built one, or the source file if the sources run directly. */
export const platformProgram: string = here.endsWith(".ts")
  ? join(packageRoot, "src", "platform", "main.ts")
  : join(packageRoot, "dist", "platform", "main.js");

/** The program of the controller's threads, likewise. */
export const threadProgram: URL = pathToFileURL(
  here.endsWith(".ts")
    ? join(packageRoot, "src", "controller", "runs", "thread.ts")
    : join(packageRoot, "dist", "controller", "runs", "thread.js"),
);

export function packageVersion(): string {
  return packageText("version");
}

/** The address of the project's repository, without a slash at its end. */
export function projectUrl(): string {
  return packageText("homepage").split("#", 1).join();
}

/** The text of a file of the package, such as one of `templates` or `schemas`. */
export function packageFile(path: string): string {
  return readFileSync(join(packageRoot, path), "utf8");
}

/** The style and the script of a page, and the digest by which its content security policy names them. */
export function pageAssets(): {
  readonly style: string;
  readonly script: string;
  sha256(text: string): string;
} {
  return {
    style: packageFile("templates/report/page.css"),
    script: packageFile("templates/report/page.js"),
    sha256: (text) => createHash("sha256").update(text, "utf8").digest("base64"),
  };
}

function packageText(key: "version" | "homepage"): string {
  const manifest: unknown = JSON.parse(packageFile("package.json"));
  return isObject(manifest) ? String(manifest[key]) : "unknown";
}

/** The line by which editors check a manifest in `folder`: the schema of the package installed there or above, or to be. */
export function schemaLine(folder: string): string {
  const schema = join("node_modules", "graphform", "schemas", "manifest.schema.json");
  let found = resolve(folder);
  while (!existsSync(join(found, schema)) && dirname(found) !== found) found = dirname(found);
  const steps = existsSync(join(found, schema)) ? relative(resolve(folder), found) : "";
  return `# yaml-language-server: $schema=./${join(steps, schema)}`.replace("=./../", "=../");
}

function above(dir: string): string {
  const parent = dirname(dir);
  return existsSync(join(dir, "package.json")) || parent === dir ? dir : above(parent);
}
