import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** A repository of a test, in the file system. */
export interface Repository {
  readonly folder: string;
  readonly url: string;
  git(...args: readonly string[]): string;
  /** Adds entries to an index and commits them: things that a working tree cannot hold. */
  stage(entries: readonly { readonly mode: string; readonly id: string; readonly path: string }[]): void;
  write(path: string, text: string | Uint8Array): void;
  link(path: string, target: string): void;
  /** Commits all that was written; returns the commit. */
  commit(): string;
}

/** Makes an empty repository. Its git has a home of its own, so that a hostile one of the test does not reach it. */
export function makeRepository(): Repository {
  const folder = temporaryFolder("repository");
  const env = {
    PATH: process.env["PATH"],
    HOME: temporaryFolder("home"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.com",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.com",
  };
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", folder, ...args], { env, stdio: ["ignore", "pipe", "pipe"] })
      .toString()
      .trim();
  git("init", "--quiet", "--initial-branch=main");
  const made = (path: string): string => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    return join(folder, path);
  };
  return {
    folder,
    url: `file://${folder}`,
    git,
    stage: (entries) => {
      for (const { mode, id, path } of entries)
        git("update-index", "--add", "--cacheinfo", `${mode},${id},${path}`);
    },
    write: (path, text) => writeFileSync(made(path), text),
    link: (path, target) => symlinkSync(target, made(path)),
    commit: () => {
      git("add", "--all");
      git("commit", "--quiet", "--allow-empty", "--message", "a commit");
      return git("rev-parse", "HEAD");
    },
  };
}
