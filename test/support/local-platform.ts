import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@redis/client";
import type { Json, JsonObject } from "../../src/model/json.ts";
import type { Workspace } from "./workspace.ts";

/** One line of the platform's log of requests. */
export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly status: number;
  readonly body?: JsonObject;
}

/** The local platform of a workspace, and what it is told and asked beside the service's own endpoints. */
export interface LocalPlatform {
  readonly url: string;
  readonly pid: number;
  readonly username: string;
  readonly password: string;
  /** Puts these faults in force in place of all others. */
  faults(...rules: readonly JsonObject[]): Promise<void>;
  /** Requests since the last `forget`. */
  requests(): Promise<readonly LoggedRequest[]>;
  /** Those of them that are neither reads nor sign-in. */
  writes(): Promise<readonly LoggedRequest[]>;
  forget(): Promise<void>;
  /** Asks what only the local platform has, under `/_platform/`: seeds, simulated persons. Rejects with a refusal. */
  control(method: string, path: string, body?: Json): Promise<string>;
}

/** Starts the local platform of a workspace, by the command that users type. */
export async function platformUp(user: Workspace, ...options: readonly string[]): Promise<LocalPlatform> {
  const { code, out, err } = await user.run("platform", "up", "--detach", "--json", ...options);
  if (code !== 0) throw new Error(`platform up ended with ${code}: ${out}${err}`);
  const { url, pid }: { url: string; pid: number } = JSON.parse(out);
  const credentials = readFileSync(join(user.dir, ".graphform", "platform", "credentials.json"), "utf8");
  const { username, password }: { username: string; password: string } = JSON.parse(credentials);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const control = async (method: string, path: string, body?: Json): Promise<string> => {
    const response = await fetch(`${url}/_platform/${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.text();
  };
  const requests = async (): Promise<readonly LoggedRequest[]> => {
    const { requests: found }: { requests: readonly LoggedRequest[] } = JSON.parse(
      await control("GET", "requests"),
    );
    return found;
  };
  return {
    url,
    pid,
    username,
    password,
    requests,
    control,
    faults: async (...rules) => void (await control("PUT", "faults", { rules })),
    writes: async () =>
      (await requests()).filter(
        ({ method, operation }) => method !== "GET" && !["signin", "refresh"].includes(operation),
      ),
    forget: async () => void (await control("DELETE", "requests")),
  };
}

/** Who asks a database, and over what. */
export interface DatabaseLogin {
  readonly username: string;
  readonly password: string;
  /** PEM text of the authority, where the database serves over TLS. */
  readonly ca?: string;
}

/** Sends one command to the database at an endpoint `host:port`. Rejects with what the database says. */
export async function ask(
  endpoint: string,
  login: DatabaseLogin,
  ...command: readonly string[]
): Promise<unknown> {
  const [host = "", port = ""] = endpoint.split(":");
  const { username, password, ca } = login;
  const socket = { host, port: Number(port), reconnectStrategy: false as const };
  const client = createClient({
    username,
    password,
    socket: ca === undefined ? socket : { ...socket, tls: true, ca },
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await client.sendCommand([...command]);
  } finally {
    client.destroy();
  }
}
