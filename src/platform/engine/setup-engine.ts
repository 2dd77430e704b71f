/** @module Finds an engine, and fetches a server where this machine has none. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cachedServer, cachedServers, engineCache } from "./engine-cache.ts";
import { EngineError } from "./engine-error.ts";
import { fetchPackages } from "./fetch-packages.ts";
import { type EngineSearch, findEngine } from "./find-engine.ts";
import { findModule } from "./find-module.ts";
import { askProgram } from "./server-program.ts";

/** Debian packages with the shared libraries that the graph module may need. */
const libraryPackages: { readonly [library: string]: string } = {
  "libgomp.so.1": "libgomp1",
  "libstdc++.so.6": "libstdc++6",
  "libgcc_s.so.1": "libgcc-s1",
  "libssl.so.3": "libssl3",
  "libcrypto.so.3": "libssl3",
};

/** Age in ms after which a temporary folder counts as left by a killed run. */
const stale = 3_600_000;

/**
 * The result of `findEngine`; where it finds none, valkey-server is fetched into the user's cache first, without root rights.
 * Resolves with the reason where that fails. Several runs may fetch at the same time.
 */
export async function setupEngine(env: NodeJS.ProcessEnv = process.env): Promise<EngineSearch> {
  const found = await findEngine({ env });
  const module = findModule(env);
  const isAskedFor = (env["GRAPHFORM_ENGINE"] ?? "") !== "";
  if (found.engine !== undefined || module === undefined || isAskedFor) return found;
  const cache = engineCache(env);
  const lacking = await lackingLibraries(module);
  // A fetched server that does not work with the module would not work when fetched again.
  if (lacking.length === 0 && (await hasServer(cache))) return found;
  try {
    await fetchServer(cache, lacking, env);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { engine: undefined, reason: `${found.reason} (fetching one was tried: ${error.message})` };
  }
  return findEngine({ env });
}

async function hasServer(cache: string): Promise<boolean> {
  const programs = await Promise.all(
    cachedServers(cache).map(({ file, libraries }) => askProgram(file, libraries)),
  );
  return programs.some((program) => typeof program !== "string");
}

async function fetchServer(cache: string, lacking: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  await mkdir(cache, { recursive: true, mode: 0o700 });
  await removeStale(cache);
  const work = await mkdtemp(join(cache, ".fetching-"));
  try {
    const root = join(work, "root");
    const libraries = new Set(lacking.flatMap((library) => libraryPackages[library] ?? []));
    await fetchPackages(["valkey-server", ...libraries], { work, root, env });
    const server = cachedServer(root);
    const program =
      server === undefined ? "is not in its package" : await askProgram(server.file, server.libraries);
    if (typeof program === "string") throw new EngineError("engine-missing", `the fetched server ${program}`);
    await moveInto(root, join(cache, `${program.name}-${program.version}-${process.arch}`), work);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Moves a folder to its place atomically; a folder that a concurrent run has just put there is kept. */
async function moveInto(root: string, place: string, work: string): Promise<void> {
  // An existing server did not work, unless it appeared during this run.
  const placedAt = await stat(place).then(
    (seen) => seen.ctimeMs,
    () => undefined,
  );
  if (placedAt !== undefined && placedAt > (await stat(work)).birthtimeMs) return;
  if (placedAt !== undefined) await rename(place, join(work, "former")).catch(() => undefined);
  await rename(root, place).catch((error: unknown) => {
    if (
      !(error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "EEXIST"))
    )
      throw error;
  });
}

async function removeStale(cache: string): Promise<void> {
  for (const name of (await readdir(cache)).filter((entry) => entry.startsWith(".fetching-"))) {
    const path = join(cache, name);
    const seen = await stat(path).catch(() => undefined);
    if (seen !== undefined && Date.now() - seen.mtimeMs > stale)
      await rm(path, { recursive: true, force: true });
  }
}

async function lackingLibraries(file: string): Promise<readonly string[]> {
  try {
    const { stdout } = await promisify(execFile)("ldd", [file], { env: { ...process.env, LC_ALL: "C" } });
    return [...stdout.matchAll(/^[ \t]*(\S+) => not found/gm)].map(([, library = ""]) => library);
  } catch {
    return [];
  }
}
