import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startCloud } from "../support/cloud.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Ran, run } from "./harness.ts";

/** A folder, the vendor's service in memory, and the command line upon both. */
export interface CloudBench {
  readonly cloud: Awaited<ReturnType<typeof startCloud>>;
  readonly folder: string;
  readonly env: { [name: string]: string | undefined };
  /** Runs a command line with the manifest and the state. */
  gf(...args: readonly string[]): Promise<Ran>;
  /** The same without them. */
  bare(...args: readonly string[]): Promise<Ran>;
  manifest(text: string): Promise<void>;
  read(name: string): Promise<string>;
}

/** A manifest of one instance, `a`. */
export const oneInstance = `instances:
  a:
    tier: free
    component: free
    cloudProvider: aws
    region: us-east-1
    config: { name: a, graphdbUser: app, graphdbPassword: "\${secret.pw}" }
`;

const quick = `name: cloud
extends: falkordb-cloud
timing:
  settle: 1ms
  listLag: 1ms
  endpoint: 0ms
  poll: { first: 1ms, longest: 20ms }
`;

/** A bench for one test, whose profile is the vendor's without its waits; `more` is laid over it. */
export async function cloudBench(resources = "", more = ""): Promise<CloudBench> {
  const cloud = await startCloud();
  const folder = temporaryFolder("cloud");
  const profile = join(folder, "cloud.yaml");
  const file = join(folder, "graphform.yaml");
  await writeFile(profile, quick + more);
  const manifest = (text: string): Promise<void> =>
    writeFile(
      file,
      `apiVersion: graphform/v1\nname: shop\nsecrets: { pw: { env: PW } }\n${text.includes("service:") ? "" : "service: {}\n"}${text}`,
    );
  await manifest(resources);
  const env = { ...cloud.env, PW: "a-password-of-tests", XDG_STATE_HOME: join(folder, "xdg") };
  const bare = (...args: readonly string[]): Promise<Ran> => run([...args, "--profile", profile], env);
  return {
    cloud,
    folder,
    env,
    bare,
    gf: (...args) => bare(...args, "-f", file, "--state", join(folder, "state.json")),
    manifest,
    read: (name) => readFile(join(folder, name), "utf8"),
  };
}
