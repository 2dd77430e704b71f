import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { buffer } from "node:stream/consumers";
import { temporaryFolder } from "../temporary-folder.ts";

/** A bare repository, `acme/graphs.git`, behind git's own server. */
export interface GitHost {
  /** Folder of the repository. */
  readonly folder: string;
  /** Answers a request for it, as git does. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Makes a commit of everything in a folder, ignored or not, the newest of a branch. Returns its hash. */
  push(worktree: string, branch?: string): string;
  /** Sets a branch to another commit, or deletes it, as a forced push does. */
  reset(branch: string, commit: string | undefined): void;
  /** Writes the files of a commit into a folder. */
  checkOut(commit: string, folder: string): void;
  close(): void;
}

const who = ["-c", "user.name=ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];

/** Makes an empty repository. */
export function openGitHost(): GitHost {
  const root = temporaryFolder("git");
  const folder = join(root, "acme", "graphs.git");
  mkdirSync(folder, { recursive: true });
  const git = (args: readonly string[], options: { cwd?: string; index?: string } = {}): string =>
    execFileSync("git", [...who, "--git-dir", folder, ...args], {
      ...{ cwd: options.cwd ?? root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
      env: { PATH: process.env["PATH"], HOME: root, GIT_INDEX_FILE: join(root, "index") },
    }).trim();
  git(["init", "--quiet", "--bare", "--initial-branch", "main"]);
  const backend = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");
  return {
    folder,
    async answer(request, response) {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
      const header = (name: string): string => String(request.headers[name] ?? "");
      const child = spawn(backend, {
        stdio: ["pipe", "pipe", "inherit"],
        env: {
          ...{ PATH: process.env["PATH"], GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: "1" },
          ...{ PATH_INFO: pathname, QUERY_STRING: searchParams.toString() },
          ...{ REQUEST_METHOD: request.method, CONTENT_TYPE: header("content-type") },
          ...{ CONTENT_LENGTH: header("content-length"), GIT_PROTOCOL: header("git-protocol") },
        },
      });
      request.pipe(child.stdin);
      const whole = await buffer(child.stdout);
      const end = whole.indexOf("\r\n\r\n");
      const head = whole.subarray(0, end).toString();
      response.writeHead(Number(/^Status: (\d+)/m.exec(head)?.[1] ?? 200));
      response.end(whole.subarray(end + 4));
    },
    push(worktree, branch = "main") {
      const at = ["--work-tree", worktree];
      git(["read-tree", "--empty"]);
      git([...at, "add", "--all", "--force", "."], { cwd: worktree });
      const tree = git(["write-tree"]);
      const ref = `refs/heads/${branch}`;
      const before = git(["for-each-ref", "--format=%(objectname)", ref]);
      if (before !== "" && git(["rev-parse", `${before}^{tree}`]) === tree) return before;
      const parent = before === "" ? [] : ["-p", before];
      const commit = git(["commit-tree", ...parent, "-m", "a commit", tree]);
      git(["update-ref", ref, commit]);
      return commit;
    },
    reset(branch, commit) {
      const ref = `refs/heads/${branch}`;
      git(commit === undefined ? ["update-ref", "-d", ref] : ["update-ref", ref, commit]);
    },
    checkOut(commit, target) {
      mkdirSync(target, { recursive: true });
      git(["--work-tree", target, "read-tree", commit]);
      git(["--work-tree", target, "checkout-index", "--all", "--force"], { cwd: target });
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}
