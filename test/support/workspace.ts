import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { inject } from "vitest";
import type { StateDocument } from "../../src/model/state.ts";
import { readState } from "../../src/state/read-state.ts";
import { type Ran as RanHere, runHere } from "./command-line.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** How a command ended, and what it printed. The code is null if a signal ended it. */
export interface Ran extends Omit<RanHere, "code"> {
  readonly code: number | null;
}

/** A command that runs. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
  /** Resolves once both outputs together hold the text. */
  said(text: string): Promise<void>;
}

/** A user's folder, and graphform as users have it. */
export interface Workspace {
  readonly dir: string;
  /** Environment of every command from now on. */
  readonly env: { [name: string]: string | undefined };
  /** Runs a command to its end: in this process, or as `start` if another one is running in it. */
  run(...args: readonly string[]): Promise<Ran>;
  /** Starts the packaged program. */
  start(...args: readonly string[]): Running;
  write(file: string, text: string): void;
  read(file: string): string;
  has(file: string): boolean;
  /** Every file below the folder, by its path in it. */
  files(): readonly string[];
  /** The state of the manifest of that name; empty where there is none. */
  state(name: string): StateFile;
  /** Ends what was started here and removes the folder. */
  close(): Promise<void>;
}

/** What tests read of a state file. */
export type StateFile = Pick<StateDocument, "resources" | "intents">;

/** Options of a user's folder: `packaged` runs each command as a process of its own, for tests of what only a process does. */
export interface WorkspaceOptions {
  readonly packaged?: boolean;
}

/** Makes a user's folder under the system's temporary one. */
export function openWorkspace(manifest?: string, options: WorkspaceOptions = {}): Workspace {
  const packaged = inject("packaged");
  const dir = temporaryFolder("e2e");
  const env = ownEnvironment(packaged);
  const running = new Set<ChildProcess>();
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  };
  const start = (...args: readonly string[]): Running => {
    const program = join(packaged, "bin", "graphform.js");
    const child = spawn(process.execPath, [program, ...args], {
      cwd: dir,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    const said = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      said.out += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said.err += chunk;
    });
    const ended = new Promise<Ran>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => {
        running.delete(child);
        resolve({ code, ...said });
      });
    });
    return {
      child,
      ended,
      said: (text) =>
        until(() => {
          if (`${said.out}${said.err}`.includes(text)) return true;
          if (running.has(child)) return undefined;
          throw new Error(`it ended without saying "${text}": ${said.out}${said.err}`);
        }, `"${text}"`).then(() => undefined),
    };
  };
  if (manifest !== undefined) write("graphform.yaml", manifest);
  return {
    dir,
    env,
    start,
    write,
    run: (...args) =>
      isBusy || options.packaged === true || args.includes("platform")
        ? start(...args).ended
        : runInFolder(dir, env, args),
    read: (file) => readFileSync(join(dir, file), "utf8"),
    has: (file) => existsSync(join(dir, file)),
    files: () =>
      readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
        .sort(),
    state(name) {
      const file = join(dir, ".graphform", `${name}.state.json`);
      const empty: StateFile = { resources: {}, intents: {} };
      if (!existsSync(file)) return empty;
      const document = readFileSync(file, "utf8");
      const log = existsSync(`${file}.log`) ? readFileSync(`${file}.log`, "utf8") : undefined;
      return readState(document, file, name, log);
    },
    async close() {
      for (const child of running) child.kill("SIGKILL");
      await until(() => {
        const pids = processesOf(dir);
        for (const pid of pids) process.kill(pid, "SIGKILL");
        return pids.length === 0 || undefined;
      }, "the end of every process");
    },
  };
}

/** True while a command runs in this process: the current folder and the environment are the process's, so that others need one of their own. */
let isBusy = false;

/** Runs a command in a folder, with the variables of an environment beside those of this process; one at a time. */
export function runInFolder(dir: string, env: Workspace["env"], args: readonly string[]): Promise<RanHere> {
  if (isBusy) throw new Error("another command runs in this process");
  return inFolder(dir, env, () => runHere(args, env));
}

/** Does the work in a folder and with the variables of an environment beside those of this process. */
async function inFolder<T>(dir: string, env: Workspace["env"], work: () => Promise<T>): Promise<T> {
  const [home, before] = [process.cwd(), { ...process.env }];
  isBusy = true;
  process.chdir(dir);
  setVariables(env);
  try {
    return await work();
  } finally {
    process.chdir(home);
    setVariables({ ...Object.fromEntries(Object.keys(env).map((name) => [name, undefined])), ...before });
    isBusy = false;
  }
}

function setVariables(env: Workspace["env"]): void {
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** Ids of the processes that a folder's platform started: their arguments, or their own folder, name it. */
export function processesOf(dir: string): readonly number[] {
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return pids.filter((pid) => ofProcess(pid).some((text) => text.includes(dir))).map(Number);
}

/** Asks until there is an answer; throws after 90 s with what was waited for. */
export async function until<T>(ask: () => T | undefined | Promise<T | undefined>, what: string): Promise<T> {
  const end = Date.now() + 90_000;
  while (Date.now() < end) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await pause(10);
  }
  throw new Error(`waited in vain for ${what}`);
}

/** Nothing of this process's settings, but the way to the graph module that is installed beside these tests. */
function ownEnvironment(packaged: string): { [name: string]: string | undefined } {
  const kept = ["PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "GRAPHFORM_ENGINE"];
  const inherited = kept.flatMap((name): [string, string][] => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const module = createRequire(import.meta.url).resolve("@falkordblite/linux-x64/package.json");
  return {
    ...Object.fromEntries(inherited),
    GRAPHFORM_MODULE: join(dirname(module), "bin", "falkordb.so"),
    NODE_COMPILE_CACHE: join(packaged, "compile-cache"),
  };
}

function ofProcess(pid: string): readonly string[] {
  try {
    return [readFileSync(`/proc/${pid}/cmdline`, "utf8"), readlinkSync(`/proc/${pid}/cwd`)];
  } catch {
    return [];
  }
}
