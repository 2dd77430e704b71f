import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Folder of the package as users get it. */
    packaged: string;
    /** True under `npm run test:all`. */
    whole: boolean;
  }
}

/**
 * Global set-up of the end-to-end tests: builds what is here now and sets up what the package publishes in a folder of
 * its own, so that the tests run what users run, and nothing that is built meanwhile disturbs them.
 */
export function setup(project: TestProject): () => void {
  const root = join(import.meta.dirname, "..", "..");
  execFileSync(process.execPath, [join(root, "scripts", "build.ts")], { stdio: "inherit" });
  const folder = mkdtempSync(join(tmpdir(), "graphform-packaged-"));
  const { files }: { readonly files: readonly string[] } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  for (const path of ["package.json", ...files])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  project.provide("packaged", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
