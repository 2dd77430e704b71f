import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { defined } from "../src/model/json.ts";
import type { PlatformOptions } from "../src/platform/options.ts";
import { startPlatform } from "../src/platform/start.ts";
import { type Difficulty, difficulties, type LoggedRequest, lookedForRefused } from "./difficulties.ts";

/**
 * Forty databases of one class against a service that allows only so much, through the program as users have it:
 * how long an apply takes, as a ratio to what the limit itself allows. Throws where one does not end with 0, does not
 * make exactly forty, or leaves a plan that is not empty.
 */
const { values } = parseArgs({
  options: { rounds: { type: "string", default: "3" }, only: { type: "string" } },
});
const cli = join(import.meta.dirname, "..", "bin", "graphform.js");
const count = 40;

const manifest = `apiVersion: graphform/v1
name: limits
service: { profile: ./quiet.yaml }
secrets: { password: { env: BENCH_PASSWORD } }
defaults: { instances: { cloudProvider: aws, region: us-east-1, tier: pro, component: standalone } }
instances:
${Array.from({ length: count }, (_, n) => `  db${n}: { config: { name: db-${n}, nodeInstanceType: m7g.large, graphdbUser: app, graphdbPassword: "\${secret.password}" } }`).join("\n")}
`;

/** There are no databases that could answer, and nobody waits for them. */
const quiet = "name: quiet\nextends: default\ntiming: { endpoint: 0s }\n";

type Played = Pick<Difficulty, "faults" | "options" | "limits">;

/** One apply, in a folder and with a platform of its own. */
interface Measured {
  readonly ms: number;
  readonly requests: readonly LoggedRequest[];
}

const free = await median("nothing", { faults: [], options: {} });
console.log(`${line(free.ms, free.requests)}  without a limit`);
for (const difficulty of difficulties) {
  if (values.only !== undefined && !difficulty.name.includes(values.only)) continue;
  const { ms, requests } = await median(difficulty.name, difficulty);
  const allowed = difficulty.allows(free.ms, requests);
  const looked = lookedForRefused(requests);
  const rest =
    looked === 0 ? "" : `, ${(ms / (allowed + looked)).toFixed(2)} with the looks for refused creates`;
  console.log(
    `${line(ms, requests)}  ${difficulty.name}: ${(ms / allowed).toFixed(2)} times what it allows${rest}`,
  );
}

function line(ms: number, requests: readonly LoggedRequest[]): string {
  return `${(ms / 1000).toFixed(1).padStart(6)} s ${(requests.length / count).toFixed(1).padStart(5)} requests each`;
}

async function median(name: string, difficulty: Played): Promise<Measured> {
  const rounds: Measured[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1)
    rounds.push(await apply(name, difficulty, round + 1));
  const sorted = rounds.toSorted((one, other) => one.ms - other.ms);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error("--rounds is at least 1");
  return middle;
}

async function apply(name: string, { faults, options, limits }: Played, seed: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "graphform-limits-"));
  const dataDir = join(folder, ".graphform", "platform");
  const slow = { fault: { latency: 20 } };
  const rules = [slow, ...faults.map((rule) => ({ ...rule, seed }))];
  const settings: PlatformOptions = { dataDir, port: 0, engine: "none", delays: 1500, ...options };
  const platform = await startPlatform({ ...settings, faults: rules });
  try {
    writeFileSync(join(folder, "graphform.yaml"), manifest);
    writeFileSync(join(folder, "quiet.yaml"), limits === undefined ? quiet : `${quiet}limits: ${limits}\n`);
    const login = JSON.parse(readFileSync(join(dataDir, "credentials.json"), "utf8"));
    const env = {
      ...process.env,
      CI: "true",
      GRAPHFORM_PLATFORM_URL: platform.url,
      GRAPHFORM_USERNAME: login.username,
      GRAPHFORM_PASSWORD: login.password,
      BENCH_PASSWORD: "not-a-secret-1",
    };
    const began = performance.now();
    const code = await run(["apply", "--auto-approve"], folder, env);
    const ms = performance.now() - began;
    const basic = Buffer.from(`${login.username}:${login.password}`).toString("base64");
    const ask = async (method: string, path: string, body?: string): Promise<string> => {
      const response = await fetch(`${platform.url}/_platform/${path}`, {
        method,
        headers: { authorization: `Basic ${basic}`, "content-type": "application/json" },
        ...defined({ body }),
      });
      return response.text();
    };
    const { requests }: { requests: readonly LoggedRequest[] } = JSON.parse(await ask("GET", "requests"));
    const { instances }: { instances: readonly unknown[] } = JSON.parse(await ask("GET", "status"));
    await ask("PUT", "faults", JSON.stringify({ rules: [] }));
    const plan = await run(["plan", "--detailed-exitcode"], folder, env);
    if (code !== 0 || instances.length !== count || plan !== 0)
      throw new Error(`${name}: apply ${code}, ${instances.length} instances, plan ${plan}`);
    return { ms, requests };
  } finally {
    await platform.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, [cli, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => said.push(text));
  const [code] = await once(child, "close");
  if (code !== 0) process.stderr.write(said.join(""));
  return Number(code);
}
