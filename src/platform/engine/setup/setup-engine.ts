/** @module Finds an engine, and fetches what this machine lacks of one. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { EngineError } from "../spec.ts";
import {
  addToCache,
  askProgram,
  cachedServer,
  cachedServers,
  engineCache,
  findModule,
  hasModulePackage,
} from "./engine-cache.ts";
import { type Fetching, fetchModule, fetchPackages } from "./fetch.ts";
import { type EngineSearch, findEngine, otherModules, otherServers } from "./find-engine.ts";

/** Debian packages with the shared libraries that the graph module may need. */
const libraryPackages: { readonly [library: string]: string } = {
  "libgomp.so.1": "libgomp1",
  "libstdc++.so.6": "libstdc++6",
  "libgcc_s.so.1": "libgcc-s1",
  "libssl.so.3": "libssl3",
  "libcrypto.so.3": "libssl3",
};

/**
 * The result of `findEngine`; if it finds none, fetches a missing graph module and valkey-server into the user's cache, without
 * root rights. Resolves with the reason if that fails. Several runs may fetch at the same time.
 */
export async function setupEngine(
  env: NodeJS.ProcessEnv = process.env,
  report: Fetching["report"] = () => undefined,
): Promise<EngineSearch> {
  const found = await findEngine({ env });
  if (found.engine !== undefined || env["GRAPHFORM_ENGINE"] === "none") return found;
  const cache = engineCache(env);
  const isModuleNamed = (env["GRAPHFORM_MODULE"] ?? "") !== "";
  if (findModule(env) !== undefined) return setupServer(found, cache, { env, report });
  if (isModuleNamed || !hasModulePackage(process)) return found;
  try {
    await fetchModule(cache, { env, report });
  } catch (error) {
    return failed(found.reason, error, otherModules);
  }
  const again = await findEngine({ env });
  return again.engine === undefined ? setupServer(again, cache, { env, report }) : again;
}

async function setupServer(
  found: EngineSearch & { readonly engine: undefined },
  cache: string,
  fetching: Fetching,
): Promise<EngineSearch> {
  const { env } = fetching;
  const module = findModule(env);
  if (module === undefined || (env["GRAPHFORM_ENGINE"] ?? "") !== "") return found;
  const lacking = await lackingLibraries(module);
  // A fetched server that does not work with the module would not work when fetched again.
  if (lacking.length === 0 && (await hasServer(cache))) return { ...found, hint: otherServers };
  try {
    await fetchServer(cache, lacking, fetching);
  } catch (error) {
    return failed(found.reason, error, otherServers);
  }
  const again = await findEngine({ env });
  return again.engine === undefined ? { ...again, hint: otherServers } : again;
}

/** Adds the reason of a failed download. Throws an unexpected error as it is. */
function failed(reason: string, error: unknown, hint: string): EngineSearch {
  if (!(error instanceof EngineError)) throw error;
  return { engine: undefined, reason: `${reason} (fetching one was tried: ${error.message})`, hint };
}

async function hasServer(cache: string): Promise<boolean> {
  const programs = await Promise.all(
    cachedServers(cache).map(({ file, libraries }) => askProgram(file, libraries)),
  );
  return programs.some((program) => typeof program !== "string");
}

async function fetchServer(cache: string, lacking: readonly string[], fetching: Fetching): Promise<void> {
  const libraries = new Set(lacking.flatMap((library) => libraryPackages[library] ?? []));
  const place = await addToCache(cache, async (filling) => {
    await fetchPackages(["valkey-server", ...libraries], { ...filling, ...fetching });
    const server = cachedServer(filling.root);
    const program =
      server === undefined ? "is not in its package" : await askProgram(server.file, server.libraries);
    if (typeof program === "string") throw new EngineError("engine-missing", `the fetched server ${program}`);
    return `${program.name}-${program.version}-${process.arch}`;
  });
  fetching.report(`kept in ${place}`);
}

async function lackingLibraries(file: string): Promise<readonly string[]> {
  try {
    const { stdout } = await promisify(execFile)("ldd", [file], { env: { ...process.env, LC_ALL: "C" } });
    return [...stdout.matchAll(/^[ \t]*(\S+) => not found/gm)].map(([, library = ""]) => library);
  } catch {
    return [];
  }
}
