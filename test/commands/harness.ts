import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProgram } from "../../src/commands/program.ts";
import { printThrown } from "../../src/commands/terminal/print-error.ts";
import type { Terminal } from "../../src/commands/terminal/terminal.ts";
import { isObject, type JsonObject } from "../../src/model/json.ts";
import type { PlatformOptions } from "../../src/platform/index.ts";
import { settingsOf } from "../../src/project/settings.ts";
import { startTest, type TestPlatform } from "../platform/harness.ts";

/** What a command line did. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder of its own, a platform, and the command line upon both. */
export interface Bench {
  readonly test: TestPlatform;
  readonly folder: string;
  /** Environment of every command from now on. */
  readonly env: { [name: string]: string | undefined };
  /** Runs a command line; options of the manifest and the state are added where the command reads them. */
  gf(...args: readonly string[]): Promise<Ran>;
  /** The same without the manifest and the state. */
  bare(...args: readonly string[]): Promise<Ran>;
  write(name: string, text: string): Promise<string>;
  state(): Promise<JsonObject>;
  close(): Promise<void>;
}

/** Starts a platform without databases (unless told otherwise) and a folder with `graphform.yaml` in it. */
export async function startBench(manifest: string, options: Partial<PlatformOptions> = {}): Promise<Bench> {
  const test = await startTest(options);
  const folder = await mkdtemp(join(tmpdir(), "graphform-commands-"));
  const file = join(folder, "graphform.yaml");
  const statePath = join(folder, "state.json");
  await writeFile(file, manifest);
  const env: Bench["env"] = {
    GRAPHFORM_PLATFORM_URL: test.platform.url,
    GRAPHFORM_USERNAME: test.username,
    GRAPHFORM_PASSWORD: test.password,
    GRAPHFORM_SUBSCRIPTION_ID: "sub-test",
    XDG_STATE_HOME: join(folder, "xdg"),
    PW: "a-password-of-tests",
  };
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  return {
    test,
    folder,
    env,
    write,
    gf: (...args) => run([...args, "-f", file, "--state", statePath], env),
    bare: (...args) => run(args, env),
    async state() {
      const value: unknown = JSON.parse(await readFile(statePath, "utf8"));
      return isObject(value) ? value : {};
    },
    async close() {
      await test.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a command line in this process, as `src/cli.ts` does. */
export async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal: Terminal = {
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    interactive: false,
    colour: false,
    width: 120,
    confirm: async () => false,
  };
  let code = 0;
  const settings = settingsOf(env);
  try {
    const program = createProgram({
      terminal: () => terminal,
      settings,
      done: (exit) => {
        code = exit;
      },
    });
    await program.parseAsync(["node", "graphform", ...args]);
  } catch (error) {
    code = await printThrown(error, terminal, settings.secrets.hide);
  }
  return { code, out: out.join(""), err: err.join("") };
}
