import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { RunStatement } from "../src/index.ts";

const program = join(import.meta.dirname, "..", "bin", "graphform.js");

export interface Started {
  readonly child: ChildProcess;
  readonly ready: { readonly url: string; readonly tokenFile: string };
}

/** A controller of a trial, with its own PostgreSQL, in a folder that is removed at the end. */
export interface TrialController {
  /** Starts a worker with so many slots, and does not wait for it. */
  worker(slots: number): ChildProcess;
  /** Process of the API, which runs PostgreSQL too. */
  readonly api: ChildProcess;
  readonly folder: string;
  /** Sends a request and resolves with its answer; one that came too soon is repeated. */
  send(method: string, path: string, body: object): Promise<{ readonly [member: string]: unknown }>;
  rows(text: string): Promise<readonly Record<string, string>[]>;
  readonly run: RunStatement;
}

/** The folder and the processes of a trial. */
export interface Trial {
  readonly folder: string;
  /** Starts a program of Node, and resolves with its ready line. */
  start(...args: readonly string[]): Promise<Started>;
  /** Starts `graphform ARGS`. */
  graphform(...args: readonly string[]): Promise<Started>;
  /** Starts the API for a configuration, with variables for all processes that start later. */
  controller(yaml: string, env: NodeJS.ProcessEnv): Promise<TrialController>;
  /** Ends what was started, and removes the folder. */
  end(): Promise<void>;
}

/** Text of a manifest with so many free databases, and the variable with their password. */
export function manifestOf(name: string, databases: number, variable = "SHOP_DB"): string {
  const rows = Array.from(
    { length: databases },
    (_, at) =>
      `  db${at}: { tier: free, component: free, cloudProvider: aws, region: us-east-1, config: { name: ${name}-${at}, graphdbUser: app, graphdbPassword: "\${secret.db}" } }`,
  );
  return `apiVersion: graphform/v1\nname: ${name}\nsecrets: { db: { env: ${variable} } }\ninstances:\n${rows.join("\n")}\n`;
}

export function openTrial(): Trial {
  const folder = mkdtempSync(join(tmpdir(), "gf-fleet-bench-"));
  // PostgreSQL runs as another account if root starts the trial.
  chmodSync(folder, 0o755);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    SHOP_DB: "only-for-a-trial",
    XDG_STATE_HOME: join(folder, "sessions"),
  };
  const children = new Set<ChildProcess>();
  const closing: (() => Promise<void>)[] = [];
  const launch = (...args: readonly string[]): ChildProcessByStdio<Writable, Readable, null> => {
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["pipe", "pipe", "inherit"] });
    children.add(child);
    child.once("exit", () => children.delete(child));
    return child;
  };
  const start: Trial["start"] = async (...args) => {
    const child = launch(...args);
    for await (const line of createInterface({ input: child.stdout }))
      return { child, ready: JSON.parse(line) };
    throw new Error(`${args.join(" ")} did not start`);
  };
  const graphform: Trial["graphform"] = (...args) => start(program, ...args);
  return {
    ...{ folder, start, graphform },
    async controller(yaml, more) {
      writeFileSync(join(folder, "controller.yaml"), yaml);
      Object.assign(env, more);
      const config = ["--config", "controller.yaml"];
      const serve = ["serve", "--embedded", "db", "--role", "api", "--listen", "127.0.0.1:0"];
      const { child: api, ready } = await graphform(...serve, ...config);
      const url = readFileSync(join(folder, "db", "database-url"), "utf8").trim();
      env["GRAPHFORM_CONTROLLER_DATABASE_URL"] = url;
      const token = readFileSync(ready.tokenFile, "utf8").trim();
      const database = new pg.Pool({ connectionString: url, max: 4 });
      closing.push(() => database.end());
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      return {
        ...{ api, folder },
        rows: async (text) => (await database.query(text)).rows,
        run: async (text, values = []) => (await database.query(text, [...values])).rows,
        worker: (slots) => launch(program, "serve", "--role", "worker", "--workers", `${slots}`, ...config),
        async send(method, path, body) {
          for (;;) {
            const request = { method, headers, body: JSON.stringify(body) };
            const answer = await fetch(`${ready.url}/api/v1/${path}`, request);
            if (answer.ok) return (await answer.json()) as { readonly [member: string]: unknown };
            if (answer.status !== 429) throw new Error(`${answer.status}: ${await answer.text()}`);
            await answer.text();
            await pause(500);
          }
        },
      };
    },
    async end() {
      for (const close of closing) await close();
      // The last ones first: the database ends with the API.
      for (const child of [...children].reverse()) {
        child.kill("SIGTERM");
        while (children.has(child)) await pause(100);
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
