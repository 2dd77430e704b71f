/** @module Writes a commented manifest to start with, and pipelines on request. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { exitCodes, GraphformError } from "../../model/errors.ts";
import type { Terminal } from "../terminal.ts";
import { writeAllNew } from "../write-new.ts";
import { extendGitignore, gitignoreEdit } from "./gitignore.ts";
import { assertStateOfItsOwn } from "./own-state.ts";
import type { CiService } from "./pipeline-needs.ts";
import { type Pipelines, pipelinesFor } from "./pipelines.ts";
import { starterFor } from "./starter.ts";

/** Options of `init`. */
export interface InitOptions {
  readonly file?: string;
  readonly ci?: CiService;
}

/**
 * `init`: writes a manifest, lines for .gitignore, and with `ci` pipelines that fit the manifest, also one that exists already. Throws
 * `file-exists`; overwrites nothing.
 */
export async function init(options: InitOptions, terminal: Terminal): Promise<number> {
  const manifest = options.file ?? "graphform.yaml";
  const isThere = existsSync(manifest);
  if (isThere && options.ci === undefined) {
    throw new GraphformError("file-exists", `${manifest} exists already and is not overwritten`, {
      hint: "name another file with -f; --ci writes pipelines for this one",
    });
  }
  const pipelines = options.ci === undefined ? undefined : await pipelinesOf(options.ci, manifest, isThere);
  const edit = await gitignoreEdit();
  const files = [
    ...(isThere ? [] : [{ path: manifest, text: starterFor(dirname(manifest)) }]),
    ...(pipelines?.files ?? []),
    ...(edit === undefined || edit.before !== undefined ? [] : [{ path: ".gitignore", text: edit.after }]),
  ];
  // All files or none: a file left behind would make the next `init` fail.
  await writeAllNew(files, async () => {
    if (edit?.before !== undefined) await extendGitignore(edit);
  });
  const written = [...files.map(({ path }) => path), ...(edit?.before === undefined ? [] : [".gitignore"])];
  const names = written.map((path) => relative(".", path)).join(", ");
  terminal.out(written.length === 0 ? "Nothing to write.\n" : `Wrote ${names}.\n`);
  if (pipelines !== undefined) terminal.err(`${pipelines.next}\n`);
  if (!isThere)
    terminal.err(
      "Next: graphform platform up --detach, export ORDERS_PASSWORD=..., graphform plan, graphform apply\n",
    );
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
