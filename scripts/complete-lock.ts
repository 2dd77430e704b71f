import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What a lock file says of one package, as far as it matters here. */
export interface LockEntry {
  readonly version?: string;
  /** The hash that npm compares a package with; without one it takes what comes. */
  readonly integrity?: string;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
  readonly libc?: string | readonly string[];
  readonly dev?: boolean;
  readonly optionalDependencies?: { readonly [name: string]: string };
}

export type LockPackages = { readonly [path: string]: LockEntry };

/**
 * Entries for the builds of other platforms that a lock file lacks. npm leaves them out where its registry has not
 * got them, and then `npm ci` calls the lock file out of step, here and everywhere (npm/cli#4828).
 */
export function missingBuilds(packages: LockPackages): LockPackages {
  const missing: [string, LockEntry][] = [];
  for (const [path, entry] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const places = [`${path}/node_modules/${name}`, `node_modules/${name}`];
      if (places.some((place) => place in packages)) continue;
      missing.push([
        `node_modules/${name}`,
        { version, ...platformOf(name), ...(entry.dev ? { dev: true } : {}) },
      ]);
    }
  }
  return Object.fromEntries(missing);
}

/** Entries with the hash that `hashOf` knows for those without one; what it does not know stays as it is. */
export function withHashes(
  packages: LockPackages,
  hashOf: (name: string, version: string) => string | undefined,
): LockPackages {
  const hashed = Object.entries(packages).map(([path, entry]): [string, LockEntry] => {
    if (path === "" || entry.integrity !== undefined || entry.version === undefined) return [path, entry];
    const { version, ...rest } = entry;
    const integrity = hashOf(path.replace(/^.*node_modules\//, ""), version);
    return [path, integrity === undefined ? entry : { version, integrity, ...rest }];
  });
  return Object.fromEntries(hashed);
}

/** A package's hash as the registry has it; undefined where it has not got the package. */
function registryHash(name: string, version: string): string | undefined {
  try {
    const args = ["view", `${name}@${version}`, "dist.integrity"];
    const said = execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return said.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** The platform that a build's name ends with: `cli-linux-x64-musl`, `binding-win32-arm64-msvc`. */
function platformOf(name: string): object {
  const shape = /\b(aix|android|darwin|freebsd|linux|openharmony|win32)-([a-z0-9]+)(?:-(\w+))?$/;
  const [, os, cpu, abi] = shape.exec(name) ?? [];
  if (os === undefined || cpu === undefined)
    throw new Error(`${name} names no platform: give it an entry by hand`);
  const libc = os === "linux" && abi !== undefined ? { libc: [abi === "musl" ? "musl" : "glibc"] } : {};
  return { cpu: [cpu], ...libc, optional: true, os: [os] };
}

if (import.meta.main) {
  const file = join(import.meta.dirname, "..", "package-lock.json");
  const lock: { packages: LockPackages } = JSON.parse(readFileSync(file, "utf8"));
  const missing = missingBuilds(lock.packages);
  const hashed = withHashes({ ...lock.packages, ...missing }, registryHash);
  const all = Object.entries(hashed).sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(all) }, null, 2)}\n`);
  console.log(`${Object.keys(missing).length} entries added`);
}
