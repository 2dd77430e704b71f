import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import process from "node:process";
import { inject } from "vitest";
import { runInFolder } from "../workspace.ts";

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
      ...{ cwd, env: killed === undefined ? env : { ...env, [ownProcess]: "yes" }, detached: true },
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
 * Makes a folder of programs that a runner has: the system's, and an `npm` whose `npm ci` installs graphform, and which notes the
 * variables that it was given. Steps run graphform's commands in this process, which costs no start; a job that may be killed runs the
 * packaged program.
 */
export async function runnerPrograms(folder: string): Promise<Variables> {
  const packaged = inject("packaged");
  const program = join(packaged, "bin", "graphform.js");
  mkdirSync(join(folder, "bin"), { recursive: true });
  const port = await serveCommands(folder);
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, "bin", name), text);
    chmodSync(join(folder, "bin", name), 0o755);
  };
  write(
    "graphform-of-tests",
    `#!/bin/bash
test -z "$${ownProcess}" || exec "${process.execPath}" "${program}" "$@"
exec 3<>/dev/tcp/127.0.0.1/${port}
{ printf '%s\\0' "$PWD" "$#" "$@"; env -0; printf 'end\\0'; } >&3
read -r code answer <&3
cat "$answer.out"
cat "$answer.err" >&2
exit "$code"
`,
  );
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

/** The variable of jobs whose commands are processes of their own. */
const ownProcess = "GRAPHFORM_OF_TESTS_PACKAGED";

/** Serves commands to scripts, which send folder, arguments and variables, and get the code and the files of what was printed. */
async function serveCommands(folder: string): Promise<number> {
  let count = 0;
  const server = createServer((socket) => {
    let said = "";
    socket.on("error", () => undefined);
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (!said.endsWith("\0end\0")) return;
      const [cwd = "", length = "0", ...words] = said.split("\0").slice(0, -2);
      const args = words.slice(0, Number(length));
      const env = Object.fromEntries(
        words
          .slice(Number(length))
          .map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
      );
      count += 1;
      const answer = join(folder, `answer-${count}`);
      void runInFolder(cwd, env, args)
        .catch((error: unknown) => ({ code: 99, out: "", err: String(error) }))
        .then(({ code, out, err }) => {
          writeFileSync(`${answer}.out`, out);
          writeFileSync(`${answer}.err`, err);
          socket.end(`${code} ${answer}\n`);
        });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve).unref());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
