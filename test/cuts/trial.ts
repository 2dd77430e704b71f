import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { startPlatform } from "../../src/platform/index.ts";
import { cuttingProxy, type Moment } from "./cutting-proxy.ts";
import { manifests, type Phase } from "./manifests.ts";

/** Where an apply is cut: at its n-th request, or at the n-th change of the state's files. */
export type Cut =
  | { readonly at: "request"; readonly n: number; readonly moment: Moment }
  | { readonly at: "write"; readonly n: number; readonly moment: "before" | "after" };

/** What became of it. */
export interface Verdict {
  /** False where the apply ended before it came so far. */
  readonly isKilled: boolean;
  /** What was wrong after one more apply; empty where nothing was. */
  readonly wrong: readonly string[];
}

/** How many places a whole apply has to be cut at. */
export interface Extent {
  readonly requests: number;
  readonly writes: number;
}

/** The default profile with networks that are listed, created and deleted. */
const profile = new URL("../support/full-profile.yaml", import.meta.url);

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly said: string;
}

/** A service of its own, a state of its own, and the program as users have it: `packaged` is its folder. */
async function openBench(packaged: string, echo: boolean) {
  const dir = mkdtempSync(join(tmpdir(), "graphform-cut-"));
  const dataDir = join(dir, "platform");
  const platform = await startPlatform({
    dataDir,
    port: 0,
    engine: "none",
    networks: "full",
    autoBootstrap: true,
    usersPerMinute: 100_000,
    delays: 30,
    echo,
  });
  const proxy = await cuttingProxy(platform.url);
  copyFileSync(profile, join(dir, "full.yaml"));
  const credentials: { username: string; password: string } = JSON.parse(
    readFileSync(join(dataDir, "credentials.json"), "utf8"),
  );
  const env = {
    PATH: process.env["PATH"],
    HOME: dir,
    CI: "true",
    PASSWORD: "a-long-password",
    GRAPHFORM_USERNAME: credentials.username,
    GRAPHFORM_PASSWORD: credentials.password,
    GRAPHFORM_PLATFORM_URL: proxy.url,
    GRAPHFORM_USERS_URL: proxy.url,
    GRAPHFORM_SUBSCRIPTION_ID: "sub-local",
  };
  let kill = (): void => undefined;
  const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ended> =>
    new Promise((resolve) => {
      const program = [join(packaged, "bin", "graphform.js"), ...args];
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
  return {
    proxy,
    kill: () => kill(),
    apply: (more?: NodeJS.ProcessEnv) => run(["apply", "--auto-approve"], more),
    plan: () => run(["plan", "--detailed-exitcode"]),
    declare: (phase: Phase) => writeFileSync(join(dir, "graphform.yaml"), manifests[phase].text),
    there: () => objectsIn(join(dataDir, "control")),
    state: () => stateIn(join(dir, ".graphform", "cut.state.json")),
    log: join(dir, "writes.log"),
    async close(): Promise<void> {
      proxy.close();
      await platform.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

type Bench = Awaited<ReturnType<typeof openBench>>;

/** Loads the module that ends the process at a write. */
const dying = `--import=${new URL("dies-at-write.mjs", import.meta.url).href}`;

/** Applies without a cut, and counts what could be cut. */
export async function extentOf(phase: Phase, packaged: string): Promise<Extent> {
  const bench = await openBench(packaged, false);
  try {
    await prepare(phase, bench);
    const { code, said } = await bench.apply({ NODE_OPTIONS: dying, CUT_LOG: bench.log });
    if (code !== 0) throw new Error(`the apply ended with ${code}: ${said}`);
    return { requests: bench.proxy.count, writes: readFileSync(bench.log, "utf8").trim().split("\n").length };
  } finally {
    await bench.close();
  }
}

/** Cuts an apply, applies once more, and looks for what is doubled, left behind, forgotten or still to do. */
export async function tryCut(phase: Phase, cut: Cut, packaged: string): Promise<Verdict> {
  // Half of the services show what they were given.
  const bench = await openBench(packaged, cut.n % 2 === 0);
  try {
    await prepare(phase, bench);
    if (cut.at === "request") bench.proxy.arm(cut.n, cut.moment, bench.kill);
    const here = { NODE_OPTIONS: dying, CUT_AT: String(cut.n), CUT_WHEN: cut.moment };
    const first = await bench.apply(cut.at === "write" ? here : {});
    bench.proxy.disarm();
    const again = await bench.apply();
    const plan = await bench.plan();
    return { isKilled: first.signal === "SIGKILL", wrong: wrongIn(phase, again, plan, bench) };
  } finally {
    await bench.close();
  }
}

/** What is there before the apply that is cut. */
async function prepare(phase: Phase, bench: Bench): Promise<void> {
  if (phase === "update") {
    bench.declare("create");
    const { code, said } = await bench.apply();
    if (code !== 0) throw new Error(`the apply before it ended with ${code}: ${said}`);
  }
  bench.declare(phase);
  bench.proxy.disarm();
}

function wrongIn(phase: Phase, again: Ended, plan: Ended, bench: Bench): readonly string[] {
  const there = bench.there();
  const { bound, intents } = bench.state();
  const wrong: string[] = [];
  if (again.code !== 0) wrong.push(`the next apply ended with ${again.code}: ${again.said}`);
  if (plan.code !== 0) wrong.push(`the plan after it ended with ${plan.code}: ${plan.said}`);
  for (const id of there) if (!bound.includes(id)) wrong.push(`${id} is there, and nothing is bound to it`);
  for (const id of bound) if (!there.includes(id)) wrong.push(`${id} is bound, and not there`);
  if (new Set(bound).size < bound.length) wrong.push("two addresses are bound to one object");
  if (bound.length !== manifests[phase].count) wrong.push(`${bound.length} are bound`);
  if (intents > 0) wrong.push(`${intents} intents are open`);
  return wrong;
}

interface StoredInstance {
  readonly id: string;
  readonly users?: readonly { readonly username: string }[];
}

/** The ids of everything that the service has, by its own records. */
function objectsIn(control: string): readonly string[] {
  const records = (folder: string): readonly StoredInstance[] =>
    existsSync(join(control, folder))
      ? readdirSync(join(control, folder))
          .filter((file) => file.endsWith(".json"))
          .map((file): StoredInstance => JSON.parse(readFileSync(join(control, folder, file), "utf8")))
      : [];
  const instances = records("instances").flatMap(({ id, users = [] }) => [
    id,
    ...users.map(({ username }) => `${id}/${username}`),
  ]);
  return [...instances, ...records("networks").map(({ id }) => id)];
}

function stateIn(file: string): { readonly bound: readonly string[]; readonly intents: number } {
  const { resources, intents }: { resources: { [address: string]: { id: string } }; intents: object } =
    JSON.parse(readFileSync(file, "utf8"));
  return { bound: Object.values(resources).map(({ id }) => id), intents: Object.keys(intents).length };
}
