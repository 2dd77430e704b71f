import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { setupEngine } from "../../src/platform/engine/setup/setup-engine.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Folder of the package as users get it. */
    packaged: string;
    /** True under `npm run test:all`. */
    whole: boolean;
  }
}

/**
 * Global set-up of the tests, once for each project of `vitest.config.ts`. Makes a folder for all temporary files of the run, so that the
 * reporter sees what is left behind; sets up the database engine; builds the program, and puts what the package publishes in a folder of
 * its own, so that tests run what users run, and nothing that is built meanwhile disturbs them.
 */
export async function setup(project: TestProject): Promise<() => void> {
  const before = process.env["GRAPHFORM_TEST_PACKAGE"];
  if (before !== undefined) {
    project.provide("packaged", before);
    return () => undefined;
  }
  const found = await setupEngine();
  if (found.engine === undefined) throw new Error(`the tests need a database engine: ${found.reason}`);
  // A short name: paths of sockets have at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), "gf-"));
  // Some programs of tests run under an account without rights.
  chmodSync(folder, 0o711);
  process.env["TMPDIR"] = folder;
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const packaged = publishInto(join(folder, "packaged"));
    process.env["GRAPHFORM_TEST_PACKAGE"] = packaged;
    project.provide("packaged", packaged);
  } catch (error) {
    remove();
    throw error;
  }
  return remove;
}

/** Builds the program and puts what the package publishes in a folder. */
function publishInto(packaged: string): string {
  const root = join(import.meta.dirname, "..", "..");
  execFileSync(process.execPath, [join(root, "scripts", "build.ts")], { stdio: "inherit" });
  const { files }: { readonly files: readonly string[] } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  for (const path of ["package.json", ...files])
    cpSync(join(root, path), join(packaged, path), { recursive: true });
  return packaged;
}
