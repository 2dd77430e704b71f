/** @module Finds an engine, and fetches what this machine lacks of one. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { createEngine, type Engine } from "../engine.ts";
import { EngineError } from "../spec.ts";
import {
  addToCache,
  askProgram,
  cachedServer,
  cachedServers,
  engineCache,
  findModule,
  hasModulePackage,
  inPackage,
  modulePackage,
  type ServerFile,
} from "./engine-cache.ts";
import { type Fetching, fetchModule, fetchPackages } from "./fetch.ts";

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
  const found = await findEngine(env);
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
  const again = await findEngine(env);
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
  const again = await findEngine(env);
  return again.engine === undefined ? { ...again, hint: otherServers } : again;
}

/** Adds the reason of a failed download. Throws an unexpected error as it is. */
function failed(reason: string, error: unknown, hint: string): EngineSearch {
  if (!(error instanceof EngineError)) throw error;
  return { engine: undefined, reason: `${reason} (fetching one was tried: ${error.message})`, hint };
}

async function hasServer(cache: string): Promise<boolean> {
  const programs = await Promise.all(cachedServers(cache).map(askProgram));
  return programs.some((program) => typeof program !== "string");
}

async function fetchServer(cache: string, lacking: readonly string[], fetching: Fetching): Promise<void> {
  const libraries = new Set(lacking.flatMap((library) => libraryPackages[library] ?? []));
  const place = await addToCache(cache, async (filling) => {
    await fetchPackages(["valkey-server", ...libraries], { ...filling, ...fetching });
    const server = cachedServer(filling.root);
    const program = server === undefined ? "is not in its package" : await askProgram(server);
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

/** The engine, or a text about the servers that were tried, and how to get one. */
export type EngineSearch =
  | { readonly engine: Engine }
  | { readonly engine: undefined; readonly reason: string; readonly hint?: string };

interface Candidate extends ServerFile {
  readonly why: string;
}

/** Starts the requested server only (`none`: none), or one after another: the packaged one, valkey-server, the set-up's, redis-server. */
export async function findEngine(
  env: NodeJS.ProcessEnv = process.env,
  asked: string | undefined = env["GRAPHFORM_ENGINE"],
): Promise<EngineSearch> {
  if (asked === "none") return { engine: undefined, reason: "none was asked for" };
  const module = findModule(env);
  if (module === undefined) return noModule(env);
  const tried: string[] = [];
  const isAsked = asked !== undefined && asked !== "";
  for (const candidate of isAsked ? [askedFor(asked, env)] : candidates(env)) {
    const found = await tryCandidate(candidate, module, tried.join("; "));
    if (typeof found !== "string") return { engine: found };
    tried.push(`${candidate.why} ${found}`);
  }
  const list =
    tried.length === 0 ? "there is no valkey-server or redis-server on the PATH" : tried.join("; ");
  return {
    engine: undefined,
    reason: `no database server can be used: ${list}`,
    hint: isAsked
      ? `name another server with GRAPHFORM_ENGINE, or leave it out and run: graphform platform setup; ${withoutData}`
      : "run: graphform platform setup",
  };
}

const withoutData = "GRAPHFORM_ENGINE=none runs without data";
const otherServers: string = `install valkey-server or redis-server, 7.2 or newer, or name one with GRAPHFORM_ENGINE; ${withoutData}`;
const otherModules: string = `name a falkordb.so (that of the npm package ${modulePackage.name} ${modulePackage.version}) with GRAPHFORM_MODULE; ${withoutData}`;

function candidates(env: NodeJS.ProcessEnv): readonly Candidate[] {
  const packaged = inPackage("redis-server", env);
  return [
    ...(packaged === undefined ? [] : [{ file: packaged, why: `the server of ${modulePackage.name}` }]),
    ...onPath("valkey-server", env),
    ...cachedServers(engineCache(env)).map((server) => ({
      ...server,
      why: `${basename(server.file)} from the set-up`,
    })),
    ...onPath("redis-server", env),
  ];
}

/** A requested path, or a name on the PATH. A cached server needs its libraries also when it is requested. */
function askedFor(asked: string, env: NodeJS.ProcessEnv): Candidate {
  const [named] = asked.includes("/") ? [] : onPath(asked, env);
  const file = named?.file ?? resolve(asked);
  const cached = cachedServers(engineCache(env)).find((server) => server.file === file);
  return { file, ...cached, why: `${file}, as asked for,` };
}

function onPath(name: string, env: NodeJS.ProcessEnv): readonly Candidate[] {
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const file = folders.map((folder) => resolve(folder, name)).find((path) => existsSync(path));
  return file === undefined ? [] : [{ file, why: `${file} on the PATH` }];
}

async function tryCandidate(candidate: Candidate, module: string, before: string): Promise<Engine | string> {
  const program = await askProgram(candidate);
  if (typeof program === "string") return program;
  const why = before === "" ? candidate.why : `${candidate.why}; ${before}`;
  const engine = createEngine({ program, module }, why);
  const dir = await mkdtemp(join(tmpdir(), "graphform-trial-"));
  try {
    await engine.start(
      { dir, user: "default", password: "trial", nodes: 1, parameters: {} },
      AbortSignal.timeout(15_000),
    );
    return engine;
  } catch (error) {
    if (error instanceof EngineError) return `does not work with ${module}: ${withoutLog(error.message)}`;
    return "did not start within 15 s";
  } finally {
    await engine.destroy(dir);
    await rm(dir, { recursive: true, force: true });
  }
}

function noModule(env: NodeJS.ProcessEnv): EngineSearch {
  const named = env["GRAPHFORM_MODULE"];
  if (named !== undefined && named !== "") {
    const reason = `the graph module ${named}, which GRAPHFORM_MODULE names, is not there`;
    return { engine: undefined, reason, hint: "name another one, or leave GRAPHFORM_MODULE out" };
  }
  if (hasModulePackage(process)) {
    const hint = `run: graphform platform setup, or ${otherModules}`;
    return { engine: undefined, reason: "the graph module is missing", hint };
  }
  const here = `${process.platform} ${process.arch}`;
  const reason = `the graph module is missing, and is published for Linux on x64 only (this is ${here})`;
  return { engine: undefined, reason, hint: otherModules };
}

/** A message without the path of the trial's log, which is deleted. */
function withoutLog(message: string): string {
  const at = message.lastIndexOf(" (log: ");
  return at >= 0 && message.endsWith(")") ? message.slice(0, at) : message;
}
