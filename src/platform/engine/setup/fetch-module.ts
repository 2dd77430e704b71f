/** @module Fetches the graph module with npm: one version, whose hash is compared. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { EngineError } from "../engine-error.ts";
import { addToCache } from "./add-to-cache.ts";
import { type Call, callIn } from "./call-program.ts";
import { cachedModuleFolder, megabytes } from "./engine-cache.ts";
import { modulePackage } from "./module-package.ts";

const { name, version, integrity } = modulePackage;

/** Environment of a download, and the receiver of lines for people. */
export interface Fetching {
  readonly env: NodeJS.ProcessEnv;
  readonly report: (line: string) => void;
}

/**
 * Fetches the package from the registry that npm is configured with, compares its hash and unpacks it into the cache. No script of a package
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
