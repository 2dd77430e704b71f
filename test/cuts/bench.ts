import { spawn } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { startPlatform } from "../../src/platform/start.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type CuttingProxy, cuttingProxy } from "./cutting-proxy.ts";
import { declared, type Phase } from "./manifests.ts";
import { type ProfileName, services } from "./services.ts";
import { passwords } from "./wrong-in.ts";

/** How a run of the program ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly said: string;
}

/** A service of its own, a state of its own, and the program as users have it. */
export interface Bench {
  readonly dir: string;
  readonly proxy: CuttingProxy;
  /** Ends the program that runs. */
  kill(): void;
  declare(phase: Phase): void;
  apply(more?: NodeJS.ProcessEnv): Promise<Ended>;
  plan(): Promise<Ended>;
  close(): Promise<void>;
}

/** What a bench is made for. */
export interface Subject {
  readonly profile: ProfileName;
  readonly phase: Phase;
  /** Folder of the package. */
  readonly packaged: string;
  /** Whether the service shows what it was given. */
  readonly echo: boolean;
}

/** Opens a bench at which what is declared before the subject's phase is there already. */
export async function openBench(subject: Subject): Promise<Bench> {
  const dir = temporaryFolder("cut");
  if (subject.phase === "update") cpSync(await created(subject), dir, { recursive: true });
  const bench = await openIn(dir, subject);
  // The same service at another address.
  if (subject.phase === "update") await bench.rebind();
  bench.declare(subject.phase);
  return bench;
}

const folders = new Map<string, Promise<string>>();

/** A folder in which everything was created, made once; it is there until the process ends. */
function created(subject: Subject): Promise<string> {
  const key = [subject.profile, subject.echo, subject.packaged].join(" ");
  const before = folders.get(key);
  if (before !== undefined) return before;
  const made = create(subject);
  folders.set(key, made);
  return made;
}

async function create(subject: Subject): Promise<string> {
  const dir = temporaryFolder("cut");
  const bench = await openIn(dir, subject);
  bench.declare("create");
  const { code, said } = await bench.apply();
  await bench.stop();
  if (code !== 0) throw new Error(`the apply before it ended with ${code}: ${said}`);
  return dir;
}

async function openIn(
  dir: string,
  subject: Subject,
): Promise<Bench & { stop(): Promise<void>; rebind(): Promise<void> }> {
  const { profile, networks, networkSeeds, wording } = services[subject.profile];
  const dataDir = join(dir, "platform");
  const platform = await startPlatform({
    ...{ dataDir, port: 0, engine: "none", autoBootstrap: true, usersPerMinute: 100_000, delays: 30 },
    ...{ networks, networkSeeds, echo: subject.echo },
  });
  const proxy = await cuttingProxy(platform.url, wording);
  writeFileSync(join(dir, "cut.yaml"), profile);
  const credentials: { username: string; password: string } = JSON.parse(
    readFileSync(join(dataDir, "credentials.json"), "utf8"),
  );
  const env = {
    PATH: process.env["PATH"],
    HOME: dir,
    CI: "true",
    FIRST: passwords.first,
    SECOND: passwords.second,
    GRAPHFORM_USERNAME: credentials.username,
    GRAPHFORM_PASSWORD: credentials.password,
    GRAPHFORM_PLATFORM_URL: proxy.url,
    GRAPHFORM_USERS_URL: proxy.url,
    GRAPHFORM_SUBSCRIPTION_ID: "sub-local",
  };
  let kill = (): void => undefined;
  const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ended> =>
    new Promise((resolve) => {
      const program = [join(subject.packaged, "bin", "graphform.js"), ...args];
      const child = spawn(process.execPath, program, { cwd: dir, env: { ...env, ...more } });
      kill = () => void child.kill("SIGKILL");
      let said = "";
      const hear = (chunk: Buffer): void => {
        said += chunk.toString();
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      child.on("close", (code, signal) => resolve({ code, signal, said }));
    });
  const stop = async (): Promise<void> => {
    proxy.close();
    await platform.close();
  };
  return {
    dir,
    proxy,
    kill: () => kill(),
    declare: (phase) => writeFileSync(join(dir, "graphform.yaml"), declared(phase, subject.profile).text),
    apply: (more) => run(["apply", "--auto-approve"], more),
    plan: () => run(["plan", "--detailed-exitcode"]),
    stop,
    async rebind() {
      const { code, said } = await run(["state", "rebind"]);
      if (code !== 0) throw new Error(`the state was not bound to its new address: ${said}`);
    },
    async close() {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
