/** @module Downloads and unpacks Debian packages without root rights. */
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type SourceFile, withBackports } from "./apt-sources.ts";
import { EngineError } from "./engine-error.ts";

const run = promisify(execFile);

/** Folders and environment of a download. */
export interface FetchPlace {
  /** An empty folder for lists and downloads. */
  readonly work: string;
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Unpacks packages, and the libraries they need that this machine lacks, into `root`. Changes nothing of the system: apt's lists,
 * cache and sources are private ones in `work`, derived from the archives that the machine already uses. Rejects with EngineError.
 */
export async function fetchPackages(
  names: readonly string[],
  { work, root, env }: FetchPlace,
): Promise<void> {
  const call = callIn(env);
  const options = await privateApt(work);
  // An unreachable archive matters only if no other archive has the packages.
  const unreached = await call("apt-get", [...options, "-qq", "update"]).catch((error: unknown) => error);
  const simulation = call("apt-get", [
    ...options,
    "-qq",
    "-s",
    "install",
    "--no-install-recommends",
    ...names,
  ]);
  const simulated = await simulation.catch((error: unknown) => {
    throw unreached instanceof EngineError ? unreached : error;
  });
  const wanted = newPackages(simulated, names);
  if (wanted.length === 0)
    throw new EngineError("engine-missing", `${names.join(", ")} is installed already, but does not work`);
  const downloads = join(work, "packages");
  await mkdir(downloads);
  await call("apt-get", [...options, "-qq", "download", ...wanted], downloads);
  await mkdir(root, { recursive: true });
  for (const file of await readdir(downloads)) await call("dpkg", ["-x", join(downloads, file), root]);
}

/** Packages to download from a simulated installation: the requested ones, others of the same source, and libraries. */
export function newPackages(simulation: string, names: readonly string[]): readonly string[] {
  const siblings = names.map((name) => name.split("-")[0]);
  // An installed package that would be upgraded shows its present version in brackets.
  const added = [...simulation.matchAll(/^Inst (\S+) \((\S+)/gm)].map(([, name = "", version = ""]) => ({
    name,
    version,
  }));
  return added
    .filter(
      ({ name }) => name.startsWith("lib") || names.includes(name) || siblings.includes(name.split("-")[0]),
    )
    .map(({ name, version }) => `${name}=${version}`);
}

async function privateApt(work: string): Promise<readonly string[]> {
  const codename = /^VERSION_CODENAME=(\S+)$/m.exec(
    await readFile("/etc/os-release", "utf8").catch(() => ""),
  )?.[1];
  const sources = codename === undefined ? [] : withBackports(await machineSources(), codename);
  if (sources.length === 0)
    throw new EngineError("engine-missing", "apt has no archive of this machine's own release configured");
  const [lists, cache, parts] = ["lists", "cache", "sources"].map((name) => join(work, name));
  for (const folder of [`${lists}/partial`, `${cache}/archives/partial`, parts ?? ""])
    await mkdir(folder, { recursive: true });
  for (const { name, text } of sources) await writeFile(join(parts ?? "", name), text);
  const settings = [
    `Dir::State::Lists=${lists}`,
    `Dir::Cache=${cache}`,
    "Dir::Etc::SourceList=/dev/null",
    `Dir::Etc::SourceParts=${parts}`,
    "Debug::NoLocking=1",
    "APT::Sandbox::User=",
    "Acquire::Languages=none",
    "APT::Update::Error-Mode=any",
    "Acquire::Retries=2",
    "Acquire::http::Timeout=20",
    "Acquire::https::Timeout=20",
  ];
  return settings.flatMap((setting) => ["-o", setting]);
}

/** The configuration of apt on this machine. */
async function machineSources(): Promise<readonly SourceFile[]> {
  const folder = "/etc/apt/sources.list.d";
  const parts = (await readdir(folder).catch(() => [])).filter((name) => /\.(sources|list)$/.test(name));
  const paths = [
    ["sources.list", "/etc/apt/sources.list"],
    ...parts.map((name) => [name, join(folder, name)]),
  ] as const;
  return Promise.all(
    paths.map(async ([name = "", path = ""]) => ({
      name: name === "sources.list" ? "main.list" : name,
      text: await readFile(path, "utf8").catch(() => ""),
    })),
  );
}

/** Runs a program; resolves with its standard output. */
type Call = (program: string, args: readonly string[], cwd?: string) => Promise<string>;

function callIn(env: NodeJS.ProcessEnv): Call {
  const settings = { env: { ...env, LC_ALL: "C.UTF-8" }, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 };
  return async (program, args, cwd) => {
    try {
      return (await run(program, [...args], { ...settings, ...(cwd === undefined ? {} : { cwd }) })).stdout;
    } catch (error) {
      throw new EngineError("engine-missing", `${program} failed: ${complaintOf(error)}`, error);
    }
  };
}

function complaintOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && error.code === "ENOENT") return "there is no such program on this machine";
  if ("killed" in error && error.killed === true) return "it took longer than two minutes";
  const stderr = "stderr" in error && typeof error.stderr === "string" ? error.stderr : "";
  const complaints = stderr.split("\n").filter((line) => line.startsWith("E: ") || line.startsWith("dpkg"));
  return complaints[0]?.replace(/^E: /, "") ?? error.message.split("\n")[0] ?? "";
}
