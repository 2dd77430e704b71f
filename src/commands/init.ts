/** @module Writes a commented manifest to start with, and a pipeline on request. */
import { existsSync } from "node:fs";
import { appendFile, readFile, rm } from "node:fs/promises";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { pipelines } from "./init-pipelines.ts";
import type { Terminal } from "./terminal.ts";
import { writeNew } from "./write-new.ts";

/** Options of `init`. */
export interface InitOptions {
  readonly file?: string;
  readonly ci?: "github" | "gitlab";
}

/** `init`: writes a manifest, lines for .gitignore, and with `ci` a pipeline. Throws `file-exists`; overwrites nothing. */
export async function init(options: InitOptions, terminal: Terminal): Promise<number> {
  const manifest = options.file ?? "graphform.yaml";
  const pipeline = options.ci === undefined ? undefined : pipelines[options.ci];
  const existing = [manifest, pipeline?.path].find((path) => path !== undefined && existsSync(path));
  if (existing !== undefined) {
    throw new GraphformError("file-exists", `${existing} exists already and is not overwritten`, {
      hint: existing === manifest ? "name another file with -f" : "move it away, or leave out --ci",
    });
  }
  const written = [manifest];
  if (pipeline !== undefined) {
    await writeNew(pipeline.path, pipeline.text);
    written.push(pipeline.path);
  }
  // All files or none: a file left behind would make the next `init` fail.
  await writeNew(manifest, starter).catch(async (error: unknown) => {
    if (pipeline !== undefined) await rm(pipeline.path, { force: true });
    throw error;
  });
  if (await extendGitignore()) written.push(".gitignore");
  terminal.out(`Wrote ${written.join(", ")}.\n`);
  if (pipeline !== undefined) {
    terminal.err(
      "The pipeline refuses to run until GRAPHFORM_STATE names a state that every job sees; its comments say how.\n",
    );
  }
  terminal.err(
    "Next: graphform platform up --detach, export ORDERS_PASSWORD=..., graphform plan, graphform apply\n",
  );
  return exitCodes.done;
}

const ignoredByGit = [".graphform/", "*.gfplan"];

/** Adds the missing lines to .gitignore; returns true if there were any. */
async function extendGitignore(): Promise<boolean> {
  const text = await readFile(".gitignore", "utf8").catch(() => "");
  const lines = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = ignoredByGit.filter((line) => !lines.has(line));
  if (missing.length === 0) return false;
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  await appendFile(
    ".gitignore",
    `${gap}# graphform: state, local platform, saved plans\n${missing.join("\n")}\n`,
  );
  return true;
}

const starter = `# yaml-language-server: $schema=./node_modules/graphform/schemas/manifest.schema.json
apiVersion: graphform/v1
name: my-graphs                     # scopes the state file

# Without a service section the local platform is meant: graphform platform up --detach
# service:
#   profile: default                # graphform profile list
#   platformUrl: https://platform.example.com
#   usersUrl: https://users.example.com
#   subscriptionId: sub-123

# Read when they are needed, never stored, never printed.
secrets:
  ordersPassword: { env: ORDERS_PASSWORD }

instances:
  orders:
    tier: free                      # enterprise-byoa | enterprise | pro | startup | free
    component: free                 # graphform profile show lists the components of each tier
    cloudProvider: aws
    region: us-east-1
    config:                         # the service's own settings: graphform explain
      name: orders
      graphdbUser: app
      graphdbPassword: \${secret.ordersPassword}
    # lifecycle:
    #   protect: true               # refuses deletion and replacement; default on every tier but free
    #   onReplace: refuse           # refuse | recreate
    #   onDelete: delete            # delete | retain | backup

# users:
#   reader:
#     instance: orders
#     username: reader
#     password: \${env.READER_PASSWORD}
#     acl: "~* +GRAPH.RO_QUERY +PING"

outputs:
  ordersEndpoint: \${instances.orders.endpoint}
`;
