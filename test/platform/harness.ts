import { readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { inject } from "vitest";
import { isObject, type Json, type JsonObject } from "../../src/model/json.ts";
import type { InstanceTypes } from "../../src/platform/model/instance-types.ts";
import type { PlatformOptions } from "../../src/platform/options.ts";
import { type RunningPlatform, startPlatform } from "../../src/platform/start.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The platform's program, as users get it: it starts in half the time of its sources. */
export const platformProgram: string = join(inject("packaged"), "dist", "platform", "main.js");

/** The environment in which that program finds the graph module, which is installed beside these tests. */
export const platformEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  GRAPHFORM_MODULE: join(
    dirname(createRequire(import.meta.url).resolve("@falkordblite/linux-x64/package.json")),
    "bin",
    "falkordb.so",
  ),
};

export const signinPath: string = "/2022-09-01-00/resource-instance/user/signin";
export const components: string = "/2022-09-01-00/resource-instance/sp-default/graphdb/v1/prod";
export const pro: string = `${components}/hosted/pro/standalone`;
export const enterprise: string = `${components}/hosted/enterprise/standalone`;

const instanceTypes: InstanceTypes = {
  aws: { "t4g.medium": 4 * 1024 ** 3, "m7g.large": 8 * 1024 ** 3, "r7g.large": 16 * 1024 ** 3 },
  gcp: { "e2-medium": 4 * 1024 ** 3 },
};

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as an object; empty when it is none. */
  readonly body: JsonObject;
}

export interface TestPlatform {
  readonly platform: RunningPlatform;
  readonly dataDir: string;
  readonly username: string;
  readonly password: string;
  /** Sends with the session of this test, unless headers say otherwise. */
  call(
    method: string,
    path: string,
    body?: Json,
    headers?: { readonly [name: string]: string },
  ): Promise<Answer>;
  /** Sends without a session. */
  bare(
    method: string,
    path: string,
    body?: Json,
    headers?: { readonly [name: string]: string },
  ): Promise<Answer>;
  create(path?: string, params?: JsonObject, top?: JsonObject): Promise<string>;
  /** Describes until the status is as wanted, or throws after 20 s. */
  until(path: string, status: string | number): Promise<Answer>;
  token(): string;
  close(): Promise<void>;
}

/** A platform in a folder of its own, signed in to; without databases unless told otherwise. */
export async function startTest(
  options: Partial<PlatformOptions> = {},
  databases: "none" | "real" = "none",
): Promise<TestPlatform> {
  const dataDir = options.dataDir ?? temporaryFolder("platform");
  const platform = await startPlatform({
    ...(databases === "none" ? { engine: "none" } : {}),
    delays: 5,
    instanceTypes,
    ...options,
    dataDir,
    port: 0,
  });
  return connect(platform, dataDir, options.dataDir === undefined);
}

/** A client of a platform that runs, here or in a process of its own. */
export async function connect(
  platform: RunningPlatform,
  dataDir: string,
  ownsFolder: boolean,
): Promise<TestPlatform> {
  const { username, password } = JSON.parse(await readFile(join(dataDir, "credentials.json"), "utf8"));
  const bare: TestPlatform["bare"] = async (method, path, body, headers = {}) => {
    const response = await fetch(new URL(path, platform.url), {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: objectOf(text) };
  };
  const signedIn = await bare("POST", signinPath, undefined, basic(username, password));
  const token = String(signedIn.body["token"]);
  const cookie = platform.profile === "falkordb-cloud" ? "omnistrate_token" : "svc_token";
  const call: TestPlatform["call"] = (method, path, body, headers = {}) =>
    bare(method, path, body, { cookie: `${cookie}=${token}`, ...headers });
  return {
    platform,
    dataDir,
    username,
    password,
    bare,
    call,
    token: () => token,
    async create(path = pro, params = {}, top = {}) {
      const answer = await call("POST", path, {
        cloud_provider: "aws",
        region: "us-east-1",
        ...top,
        requestParams: params,
      });
      if (answer.status !== 202) throw new Error(`create answered ${answer.status}: ${answer.text}`);
      return String(answer.body["id"]);
    },
    async until(path, status) {
      return poll(async () => {
        const answer = await call("GET", path);
        return answer.body["status"] === status || answer.status === status ? answer : undefined;
      }, `${path} to be ${status}`);
    },
    async close() {
      await platform.close();
      if (ownsFolder) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Asks until there is an answer; throws after 20 s with what was waited for. */
export async function poll<T>(ask: () => Promise<T | undefined>, what: string): Promise<T> {
  const end = Date.now() + 90_000;
  while (Date.now() < end) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`waited in vain for ${what}`);
}

export function basic(username: string, password: string): { readonly authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

/** What a described instance has at a path of keys; undefined where there is nothing. */
export function at(value: Json | undefined, ...keys: readonly string[]): Json | undefined {
  return keys.reduce<Json | undefined>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
}

function objectOf(text: string): JsonObject {
  try {
    const value: Json = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
