import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject, type JsonObject } from "../../src/model/json.ts";
import type { PlatformOptions } from "../../src/platform/options.ts";
import { startTest, type TestPlatform } from "../platform/harness.ts";
import { type Ran, runHere } from "../support/command-line.ts";
import { quick } from "../support/quick-profile.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export type { Ran } from "../support/command-line.ts";

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
  /** Writes a file. A manifest that does not say what its service is gets the quick profile. */
  write(name: string, text: string): Promise<string>;
  state(): Promise<JsonObject>;
  close(): Promise<void>;
}

/** Starts a platform without databases (unless told otherwise) and a folder with `graphform.yaml` in it, whose profile is the quick one. */
export async function startBench(manifest: string, options: Partial<PlatformOptions> = {}): Promise<Bench> {
  const test = await startTest(options);
  const folder = temporaryFolder("commands");
  const file = join(folder, "graphform.yaml");
  const statePath = join(folder, "state.json");
  await writeFile(file, quick(manifest));
  const env: Bench["env"] = {
    GRAPHFORM_PLATFORM_URL: test.platform.url,
    GRAPHFORM_USERNAME: test.username,
    GRAPHFORM_PASSWORD: test.password,
    GRAPHFORM_SUBSCRIPTION_ID: "sub-test",
    XDG_STATE_HOME: join(folder, "xdg"),
    PW: "a-password-of-tests",
  };
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), quick(text));
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
    },
  };
}

/** Runs a command line in this process, for a reader with 120 columns. */
export async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ran> {
  return runHere(args, env, 120);
}
