/** @module Locates files of the installed package. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { packageFile, packageRoot } from "../files/package-file.ts";
import { isObject } from "../model/json.ts";

/** The program of the local platform. */
export const platformProgram: string = program("platform/main");

/** The program of the controller's threads. */
export const threadProgram: URL = pathToFileURL(program("controller/runs/thread"));

/** The built program, or the source file if the sources run directly. */
function program(path: string): string {
  const isSource = import.meta.url.endsWith(".ts");
  return join(packageRoot, isSource ? `src/${path}.ts` : `dist/${path}.js`);
}

export function packageVersion(): string {
  return packageText("version");
}

/** The address of the project's repository, without a slash at its end. */
export function projectUrl(): string {
  return packageText("homepage").split("#", 1).join();
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
