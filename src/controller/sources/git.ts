/** @module Reads manifests from uploads and Git repositories. Git's objects are read, never checked out: no hook, filter or submodule is met. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { GraphformError, readSecret } from "../../index.ts";
import type { ControllerConfig } from "../config/config.ts";
import type { ManifestRow, Source, Upload } from "../database/schema.ts";
import { digestOf } from "../digest.ts";
import {
  assertFileName,
  assertSizes,
  type Checkout,
  inWorkFolder,
  limits,
  type SourceText,
  writeFiles,
} from "./checkout-folder.ts";
import { type GitAccess, git, repositoryIn } from "./git-process.ts";
import { allowedUrl, fitsPattern, refused } from "./git-url.ts";

type GitSource = Source & { readonly type: "git" };
type GitConfig = Pick<ControllerConfig, "git">;

const commitForm = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** A manifest, as far as its source needs. `upload`: the files of the commit that is checked out; null if they are gone. */
export type Sourced = Pick<ManifestRow, "tenant" | "source" | "commit"> & { readonly upload: Upload | null };

/** The commit that the manifest's ref names now, or the digest of its newest upload. A branch wins over a tag of its name. Throws `source-*`. */
export async function newestCommit(
  { tenant, source, commit: known }: Omit<Sourced, "upload">,
  config: GitConfig,
  signal: AbortSignal,
): Promise<string> {
  if (source.type === "upload") return known ?? "";
  const { ref } = source;
  assertSource(source);
  if (commitForm.test(ref)) return ref;
  return inWorkFolder(async ({ root, remove }) => {
    const access = await accessTo(source, tenant, config, { root, signal });
    const names =
      ref.startsWith("refs/") || ref === "HEAD" ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
    // The commit of a tag with a message stands behind the tag's own name.
    const wanted = names.flatMap((name) => (name.startsWith("refs/tags/") ? [`${name}^{}`, name] : [name]));
    const listed = await git(["ls-remote", "--", access.remote.url, ...wanted], access);
    const lines = listed.toString("utf8").split("\n");
    const found = new Map(lines.map((line) => line.split("\t").reverse() as [string, string]));
    await remove();
    const commit = wanted.map((name) => found.get(name)).find((id) => id !== undefined);
    if (commit !== undefined && commitForm.test(commit)) return commit;
    throw new GraphformError("source-gone", `the repository has no branch and no tag "${ref}"`, {
      hint: "correct the ref of the manifest",
    });
  });
}

/** Makes a folder with the files of one commit, or of an upload. Nothing of the source runs, and no link leads out of it. Throws `source-*`. */
export async function checkOut(
  { tenant, source, upload }: Sourced,
  commit: string,
  config: GitConfig,
  signal: AbortSignal,
): Promise<Checkout> {
  if (source.type === "upload") return checkOutUpload(upload);
  assertSource(source);
  if (!commitForm.test(commit)) throw refused("this is not the id of a commit");
  return inWorkFolder(async ({ root, files: folder, remove }) => {
    const repository = repositoryIn(root);
    const access = await accessTo(source, tenant, config, { root, signal });
    const local: GitAccess = { root, signal };
    await git(["init", "--quiet", "--bare", "--template=", repository], local);
    const flags = ["--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance"];
    const fetch = [`--git-dir=${repository}`, "fetch", ...flags, "--no-write-fetch-head", "--"];
    await git([...fetch, access.remote.url, commit], access, { growing: `${repository}/objects/pack` });
    const { within, files } = await readTree({ repository, commit, path: source.path }, local);
    await rm(repository, { recursive: true, force: true });
    // The files lie as in their repository, whose root this marks: a state knows its manifest by their paths.
    await mkdir(join(folder, ".git"));
    const at = join(folder, ...within);
    await mkdir(at, { recursive: true, mode: 0o700 });
    return { folder, files: await writeFiles(at, files), remove };
  });
}

async function accessTo(
  { url }: GitSource,
  tenant: string,
  { git: { allow, credentials } }: GitConfig,
  parts: Pick<GitAccess, "root" | "signal">,
): Promise<GitAccess & { readonly remote: NonNullable<GitAccess["remote"]> }> {
  const remote = await allowedUrl(url, allow);
  const found = credentials.find(
    ({ url: pattern, tenants }) => fitsPattern(url, pattern) && (tenants?.includes(tenant) ?? true),
  );
  if (found === undefined || remote.scheme === "file") return { ...parts, remote };
  const token = await readSecret("the token of the repository", found.token, { signal: parts.signal });
  const basic = Buffer.from(`${found.username}:${token}`, "utf8").toString("base64");
  return { ...parts, remote: { ...remote, authorization: `Basic ${basic}` } };
}

/** True for the name of a ref that no program takes for an option or a pattern. */
function isRef(ref: string): boolean {
  const isStep = (step: string): boolean =>
    /^[A-Za-z0-9_+-][A-Za-z0-9_.+-]*$/.test(step) && !step.endsWith(".lock");
  return (
    ref.length <= 200 &&
    /^[A-Za-z0-9_]/.test(ref) &&
    !ref.includes("..") &&
    !ref.endsWith(".") &&
    ref.split("/").every(isStep)
  );
}

/** Throws `source-refused` for a ref or a path that git could take for something else. */
export function assertSource({ ref, path }: Pick<GitSource, "ref" | "path">): void {
  if (!isRef(ref)) throw refused("the ref is no name of a branch or a tag");
  const steps = stepsOf(path);
  const isWrong = (step: string): boolean =>
    !/^[A-Za-z0-9_.][A-Za-z0-9_.@ +=-]{0,199}$/.test(step) || step === "..";
  if (path.startsWith("/") || steps.length > limits.depth || steps.some(isWrong))
    throw refused("the path is not that of a folder or a file in the repository");
}

function stepsOf(path: string): readonly string[] {
  return path.split("/").filter((step) => step !== "" && step !== ".");
}

interface Entry {
  readonly mode: string;
  readonly id: string;
  readonly size: number;
  readonly name: string;
}

const link = "120000";

/** The manifest's files `within` a folder of a commit, or the one file that the path names. Throws `source-refused` for a link out of the folder. */
async function readTree(
  {
    repository,
    commit,
    path,
  }: { readonly repository: string; readonly commit: string; readonly path: string },
  access: GitAccess,
): Promise<{ readonly within: readonly string[]; readonly files: readonly SourceText[] }> {
  const here = `--git-dir=${repository}`;
  const ask = async (
    names: readonly string[],
    flags: readonly string[],
    maxOutput?: number,
  ): Promise<readonly Found[]> => {
    const input = { stdin: names.map((name) => `${name}\n`).join(""), ...(maxOutput && { maxOutput }) };
    return foundIn(await git([here, "cat-file", ...flags], access, input), flags.includes("--batch"));
  };
  const nameOf = (some: readonly string[]): string =>
    some.length === 0 ? `${commit}^{tree}` : `${commit}:${some.join("/")}`;
  const steps = stepsOf(path);
  let [tree] = await ask([nameOf(steps)], ["--batch-check"]);
  const file = tree?.is === "blob" ? steps.at(-1) : undefined;
  const within = file === undefined ? steps : steps.slice(0, -1);
  if (file !== undefined) [tree] = await ask([nameOf(within)], ["--batch-check"]);
  if (tree?.is !== "tree")
    throw new GraphformError("source-empty", `the commit has no folder and no file "${path}"`, {
      hint: "correct the path of the manifest",
    });
  const { id } = tree;
  const listing = [here, "ls-tree", "-z", "-l", "--full-tree", id];
  const all = entriesOf(await git(listing, access, { maxOutput: limits.entries * 300 }));
  if (all.length > limits.entries) throw refused(`the folder has more than ${limits.entries} entries`);
  const entries = file === undefined ? all : all.filter(({ name }) => name === file);
  const links = entries.filter(({ mode }) => mode === link).map(({ name }) => name);
  if (links.some((name) => /\p{Cc}/u.test(name)))
    throw refused("the folder has a link with control characters in its name");
  const follow = ["--batch-check", "--follow-symlinks"];
  const ends = await ask(
    links.map((name) => `${id}:${name}`),
    follow,
    limits.entries * 5000,
  );
  const targets = new Map(links.map((name, at) => [name, ends[at]]));
  for (const [name, end] of targets)
    if (end?.is === "symlink") throw refused(`the link ${name} leads out of the manifest's folder`);
  const chosen = entries.flatMap((entry): readonly Entry[] => {
    if (!entry.name.endsWith(".yaml") || entry.mode.startsWith("040")) return [];
    assertFileName(entry.name);
    if (entry.mode.startsWith("100")) return [entry];
    const target = targets.get(entry.name);
    if (target?.is === "blob") return [{ ...entry, id: target.id, size: target.size }];
    throw refused(`${entry.name} is a link that leads to no file of the manifest's folder`);
  });
  assertSizes(chosen);
  const ids = chosen.map((entry) => entry.id);
  const contents = await ask(ids, ["--batch"], limits.bytes + limits.files * 200);
  const files = chosen.map(({ name, id: wanted }, at) => {
    const content = contents[at];
    if (content?.is !== "blob" || content.id !== wanted) throw refused(`${name} cannot be read`);
    return { name, bytes: content.bytes };
  });
  return { within, files };
}

function entriesOf(listing: Buffer): readonly Entry[] {
  const text = new TextDecoder("utf-8", { fatal: true });
  return listing
    .toString("latin1")
    .split("\0")
    .filter((row) => row !== "")
    .map((row) => {
      const [head = "", name = ""] = [row.slice(0, row.indexOf("\t")), row.slice(row.indexOf("\t") + 1)];
      const [mode = "", , id = "", size = ""] = head.split(/ +/);
      try {
        return { mode, id, size: Number(size) || 0, name: text.decode(Buffer.from(name, "latin1")) };
      } catch {
        throw refused("the folder has a name that is not UTF-8");
      }
    });
}

/** An answer of `git cat-file`: an object, or the reason why there is none. */
type Found =
  | { readonly is: "blob" | "tree"; readonly id: string; readonly size: number; readonly bytes: Uint8Array }
  | { readonly is: "missing" | "symlink" };

/** Takes the answers apart by their lengths: their texts belong to the author of the repository. */
function foundIn(output: Buffer, withContents: boolean): readonly Found[] {
  const found: Found[] = [];
  for (let at = 0; at < output.length; ) {
    const newline = output.indexOf("\n", at);
    const line = output.toString("utf8", at, newline);
    at = newline + 1;
    const [, id = "", type = "", size = ""] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line) ?? [];
    const [, word, length = ""] = /^(symlink|dangling|loop|notdir) (\d+)$/.exec(line) ?? [];
    if (word !== undefined) at += Number(length) + 1;
    const from = at;
    if (id !== "" && withContents) at += Number(size) + 1;
    if (type === "blob" || type === "tree")
      found.push({ is: type, id, size: Number(size), bytes: output.subarray(from, from + Number(size)) });
    else found.push({ is: word === "symlink" ? "symlink" : "missing" });
  }
  return found;
}

/** Writes the files of an upload into a folder. Throws `source-gone` without them: they were neither the newest nor the approved ones. */
async function checkOutUpload(files: Upload | null): Promise<Checkout> {
  if (files === null)
    throw new GraphformError("source-gone", "the files of this upload are not kept any more", {
      hint: "approve the plan of the newest upload, or upload the files again, without a secret in clear",
    });
  return inWorkFolder(async ({ files: folder, remove }) => {
    const texts = Object.entries(files).map(([name, text]) => ({ name, bytes: Buffer.from(text, "utf8") }));
    return { folder, files: await writeFiles(folder, texts), remove };
  });
}

/** The digest of an upload: the same for the same files, however they were ordered. */
export function uploadDigest(files: Upload): string {
  const ordered = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  return digestOf(JSON.stringify(ordered)).toString("hex");
}
