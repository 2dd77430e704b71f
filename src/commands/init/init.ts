/** @module Writes a commented manifest to start with, and pipelines on request. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { packageFile } from "../../files/package-file.ts";
import { kinds } from "../../kinds/index.ts";
import { readHeader } from "../../manifest/header.ts";
import { parseManifest } from "../../manifest/parse.ts";
import { validators } from "../../manifest/validators.generated.js";
import { exitCodes, GraphformError, shellWord } from "../../model/errors.ts";
import { assertOwnState, locateState, placeOf, repositoryOf } from "../../project/locate-state.ts";
import { schemaLine } from "../../project/package-files.ts";
import { settingsOf } from "../../project/settings.ts";
import { writeAllNew } from "../reports/write-new.ts";
import type { Invocation } from "../with-run.ts";
import { type CiService, type Pipelines, pipelinesFor } from "./pipelines.ts";

/** `init`: writes a manifest, and with `ci` pipelines, also for an existing manifest. Throws `file-exists`: overwrites nothing. */
export async function init({
  options,
  terminal,
}: Invocation<{ readonly file?: string; readonly ci?: CiService }>): Promise<number> {
  const manifest = options.file ?? "graphform.yaml";
  const isThere = existsSync(manifest);
  if (isThere && options.ci === undefined)
    throw new GraphformError("file-exists", `${manifest} exists already and is not overwritten`, {
      hint: "name another file with -f; --ci writes pipelines for this one",
    });
  const pipelines = options.ci === undefined ? undefined : await pipelinesOf(options.ci, manifest, isThere);
  const own = join(dirname(manifest), ".graphform");
  const ignored = join(own, ".gitignore");
  const files = [
    ...(isThere ? [] : [{ path: manifest, text: starterFor(dirname(manifest)) }]),
    ...(existsSync(own) && !existsSync(ignored) ? [{ path: ignored, text: "*\n" }] : []),
    ...(pipelines?.files ?? []),
  ];
  // All files or none: a file left behind would make the next `init` fail.
  await writeAllNew(files);
  const names = files.map(({ path }) => relative(".", path)).join(", ");
  terminal.out(files.length === 0 ? "Nothing to write.\n" : `Wrote ${names}.\n`);
  if (pipelines !== undefined) terminal.err(`${pipelines.next}\n`);
  if (!isThere) {
    const named = options.file === undefined ? "" : ` -f ${shellWord(options.file)}`;
    terminal.err(
      `Next: graphform platform up --detach, export ORDERS_PASSWORD=..., graphform plan${named}, graphform apply${named}\n`,
    );
  }
  return exitCodes.done;
}

/** The pipelines for a manifest, or for the one that `init` is going to write. */
async function pipelinesOf(ci: CiService, manifest: string, isThere: boolean): Promise<Pipelines> {
  const text = isThere ? await readFile(manifest, "utf8") : starterFor(dirname(manifest));
  await assertStateOfItsOwn(manifest, text);
  const pipelines = await pipelinesFor(ci, manifest, text);
  const existing = pipelines.files.find(({ path }) => existsSync(path));
  if (existing === undefined) return pipelines;
  throw new GraphformError(
    "file-exists",
    `${relative(".", existing.path)} exists already and is not overwritten`,
    { hint: "move it away, or leave out --ci" },
  );
}

/** Folders that are searched for manifests at most. */
const mostFolders = 2000;

/** Throws `state-shared` if another manifest of the repository has its state here. Those of several files, or with variables, are not compared. */
async function assertStateOfItsOwn(file: string, text: string): Promise<void> {
  const [place, root] = [await declaredPlace(file, text), repositoryOf(resolve("."))];
  if (place === undefined || root === undefined) return;
  for (const other of await yamlFilesIn(root)) {
    if (resolve(other) === resolve(file)) continue;
    const its = await readFile(other, "utf8").then((found) => declaredPlace(other, found));
    assertOwnState(its === place ? relative(".", other) : undefined, file, place);
  }
}

/** The place that a manifest declares, as a command in its folder would read it; undefined if it cannot be known. */
async function declaredPlace(file: string, text: string): Promise<string | undefined> {
  const { header } = readHeader(parseManifest([{ path: file, text }]), { kinds, validators, variables: {} });
  if (header === undefined) return undefined;
  const folder = dirname(resolve(file));
  const location = locateState(header, folder, undefined, settingsOf({}));
  return placeOf(location.type === "file" ? { ...location, path: resolve(folder, location.path) } : location);
}

async function yamlFilesIn(root: string): Promise<readonly string[]> {
  const [folders, found]: [string[], string[]] = [[root], []];
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".yaml"));
    found.push(...files.map(({ name }) => join(folder, name)));
    const inner = entries.filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name));
    if (folders.length + inner.length <= mostFolders)
      folders.push(...inner.map(({ name }) => join(folder, name)));
  }
  return found.sort();
}

/** A commented manifest for a folder, with one free database; every line that is commented out is valid, too. */
const starterFor = (folder: string): string =>
  `${schemaLine(folder)}\n${packageFile("templates/starter.yaml")}`;
