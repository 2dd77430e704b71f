import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { inject } from "vitest";

/** How a script ended, and what it said. */
export interface Ended {
  readonly code: number;
  readonly out: string;
}

/** Variables of a job. */
export interface Variables {
  readonly [name: string]: string;
}

/**
 * Runs a script as a runner does: `bash -e`, and nothing in its environment but what the job has. `killed` ends it and all that it has
 * started at once, as the loss of a runner does.
 */
export async function shell(
  script: string,
  cwd: string,
  env: Variables,
  killed?: AbortSignal,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script], {
      ...{ cwd, env, detached: true },
      stdio: ["ignore", "pipe", "pipe"],
    });
    killed?.addEventListener("abort", () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    });
    const chunks: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => void chunks.push(chunk));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, out: chunks.join("") }));
  });
}

/**
 * Makes a folder of programs that a runner has: the system's, and an `npm` whose `npm ci` installs graphform as users get it, and which
 * notes the variables that it was given.
 */
export function runnerPrograms(folder: string): Variables {
  const packaged = inject("packaged");
  const program = join(packaged, "bin", "graphform.js");
  mkdirSync(join(folder, "bin"), { recursive: true });
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, "bin", name), text);
    chmodSync(join(folder, "bin", name), 0o755);
  };
  write("graphform-of-tests", `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  write(
    "npm",
    `#!/bin/sh
env > "${join(folder, "npm-environment.txt")}"
echo "$*" >> "${join(folder, "npm-arguments.txt")}"
test "$1" != install || exit 0
test "$*" = "ci --ignore-scripts" || exit 9
mkdir -p node_modules/.bin
ln -sfn "${packaged}" node_modules/graphform
cp "${join(folder, "bin", "graphform-of-tests")}" node_modules/.bin/graphform
`,
  );
  return {
    PATH: [join(folder, "bin"), process.env["PATH"] ?? ""].join(delimiter),
    HOME: folder,
    CI: "true",
    NODE_COMPILE_CACHE: join(packaged, "compile-cache"),
  };
}
