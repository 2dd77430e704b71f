/** @module Contains the manifest that `init` writes. */

import { readFile } from "node:fs/promises";
import { fileTrouble, isFileError } from "../../files/file-trouble.ts";
import { replaceText } from "../../files/write-result.ts";
import { GraphformError } from "../../model/errors.ts";
import { schemaLine } from "../../project/package-files.ts";

/** A commented manifest for a folder, with one free database; every line that is commented out is valid, too. */
export const starterFor = (folder: string): string => `${schemaLine(folder)}
apiVersion: graphform/v1
name: my-graphs                     # scopes the state file

# Without a service section the local platform is meant: graphform platform up --detach
# service:
#   profile: default                # graphform profile list
#   platformUrl: https://platform.example.com
#   usersUrl: https://users.example.com
#   subscriptionId: sub-123

# Without a state section the state is a file beside the manifest. A team and its pipelines share one in a store:
# state:
#   type: s3                        # file | http | s3 | postgres: docs/stores.md
#   bucket: my-states
#   region: us-east-1

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

const file = ".gitignore";
const ignoredByGit = [".graphform/", "*.gfplan"];

/** The edit of a .gitignore. */
interface GitignoreEdit {
  /** Undefined where there is no such file yet. */
  readonly before: string | undefined;
  readonly after: string;
}

/** The edit that adds the missing lines; undefined where none is missing. Throws `file-unwritable` where the file cannot be read. */
export async function gitignoreEdit(): Promise<GitignoreEdit | undefined> {
  const before = await readFile(file, "utf8").catch((cause: unknown) => {
    if (isFileError(cause, "ENOENT")) return undefined;
    throw unwritable(cause);
  });
  const text = (before ?? "").replace(/^\uFEFF/, "");
  const lines = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = ignoredByGit.filter((line) => !lines.has(line));
  if (missing.length === 0) return undefined;
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text === "" || text.endsWith("\n") ? "" : end;
  const added = ["# graphform: state, local platform, saved plans", ...missing, ""].join(end);
  return { before: before === undefined ? undefined : text, after: `${text}${gap}${added}` };
}

/** Writes the edit of a file that is there. Throws `file-changed` or `file-unwritable`. */
export async function extendGitignore({ before = "", after }: GitignoreEdit): Promise<void> {
  const isReplaced = await replaceText(file, before, after).catch((cause: unknown) => {
    throw unwritable(cause);
  });
  if (!isReplaced)
    throw new GraphformError("file-changed", `${file} has changed meanwhile: nothing was written`, {
      hint: "run the command again",
    });
}

function unwritable(cause: unknown): GraphformError {
  return new GraphformError("file-unwritable", `cannot write ${file}: ${fileTrouble(cause)}`, { cause });
}
