/** @module Creates a client for a located service, with the credentials of the run or the session that `login` stored. */
import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { writeAtomically } from "../files/atomic-write.ts";
import { createService } from "../hosting/client.ts";
import type { Client, ServiceOptions } from "../hosting/service-options.ts";
import type { SessionStore } from "../hosting/session/session.ts";
import type { Tokens } from "../hosting/session/session-tokens.ts";
import { secretNames } from "../kinds/index.ts";
import { secretReader } from "../manifest/read-secret.ts";
import { systemClock } from "../model/clock.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { defined, isObject, jsonIn, objectIn, textIn } from "../model/json.ts";
import { atLocalPlatform, type LocalPlatform, type ServiceLocation } from "./locate-service.ts";
import { readAuthority } from "./open-store.ts";
import { packageVersion } from "./package-files.ts";
import type { RunOptions } from "./project.ts";
import type { Settings } from "./settings.ts";

type SignIn = Pick<ServiceOptions, "credentials" | "sessionStore">;

/** Creates the client, which signs in with the credentials of the run. Sends nothing. Throws `no-credentials`, `users-token`, `authority-unreadable`. */
export async function connect(
  { profile, platformUrl, usersUrl, subscriptionId, subscriptions, local, elsewhere }: ServiceLocation,
  options: Pick<RunOptions, "parallelism" | "timeout">,
  settings: Settings,
  trace: (line: string) => void,
  given?: SignIn,
): Promise<Client> {
  const caFile = settings.get("GRAPHFORM_CA_FILE") ?? local?.caFile;
  if (caFile !== undefined) await readAuthority(caFile);
  const closing = new AbortController();
  const usersToken = usersTokenOf(settings, closing.signal);
  const signIn = given ?? (await signInWith(settings, platformUrl, local, elsewhere));
  const spoken = local === undefined ? profile : atLocalPlatform(profile, local);
  const service = createService({
    profile: spoken,
    secretNames: secretNames({ profile: spoken }),
    platformUrl,
    clock: systemClock,
    trace,
    userAgent: `graphform/${packageVersion()}`,
    secrets: settings.secrets,
    ...defined({
      ...{ usersUrl, subscriptionId, subscriptions, caFile, usersToken },
      parallelism: options.parallelism,
      patience: options.timeout,
    }),
    ...signIn,
  });
  return {
    ...service,
    async close() {
      closing.abort(new Error("closed"));
      await service.close();
    },
  };
}

type Credentials = Pick<LocalPlatform, "username" | "password">;

/** Credentials of the environment, set for this command, of the local platform, or the session that `login` stored. */
async function signInWith(
  settings: Settings,
  platformUrl: string,
  local: Credentials | undefined,
  elsewhere: string | undefined,
): Promise<SignIn> {
  const given = givenCredentials(settings) ?? local;
  if (given !== undefined) return { credentials: { username: given.username, password: given.password } };
  const origin = URL.parse(platformUrl)?.origin;
  const store = sessionFiles(settings);
  if (origin !== undefined && (await store.load(origin)) !== undefined) return { sessionStore: store };
  throw new GraphformError("no-credentials", "no credentials for the service", {
    hint: elsewhere ?? "set GRAPHFORM_USERNAME and GRAPHFORM_PASSWORD, or run graphform login",
    exitCode: exitCodes.error,
  });
}

/** Names the source of the credentials that `connect` signs in with; never a value. Throws `no-credentials`. */
export async function credentialSource(
  settings: Settings,
  { platformUrl, local }: Pick<ServiceLocation, "platformUrl" | "local">,
): Promise<string> {
  const { credentials } = await signInWith(settings, platformUrl, local, undefined);
  if (credentials === undefined) return "the session that graphform login stored";
  return givenCredentials(settings) === undefined
    ? "the local platform"
    : "GRAPHFORM_USERNAME and GRAPHFORM_PASSWORD";
}

/** The credentials of the environment; undefined if none are set. Throws `no-credentials` if only one half is set. */
function givenCredentials(settings: Settings): Credentials | undefined {
  const username = settings.get("GRAPHFORM_USERNAME");
  const password = settings.get("GRAPHFORM_PASSWORD");
  if (username !== undefined && password !== undefined) return { username, password };
  if (username === undefined && password === undefined) return undefined;
  const [set, missing] =
    username === undefined
      ? ["GRAPHFORM_PASSWORD", "GRAPHFORM_USERNAME"]
      : ["GRAPHFORM_USERNAME", "GRAPHFORM_PASSWORD"];
  throw new GraphformError("no-credentials", `${set} is set, and ${missing} is not`, {
    hint: `set GRAPHFORM_USERNAME and GRAPHFORM_PASSWORD, or unset ${set} to use the session that graphform login stored`,
  });
}

/**
 * Returns a function that reads GRAPHFORM_TOKEN, or runs GRAPHFORM_TOKEN_COMMAND on each call; undefined if neither is set.
 * Throws `users-token` if both are set, or if the command cannot be parsed. Ends a running command when `signal` is aborted.
 */
function usersTokenOf(settings: Settings, signal: AbortSignal): (() => Promise<string>) | undefined {
  const token = settings.get("GRAPHFORM_TOKEN");
  const line = settings.get("GRAPHFORM_TOKEN_COMMAND");
  if (line === undefined) return token === undefined ? undefined : async () => token;
  if (token !== undefined) {
    throw new GraphformError("users-token", "GRAPHFORM_TOKEN and GRAPHFORM_TOKEN_COMMAND are both set", {
      hint: "unset one of them",
    });
  }
  const command = commandOf(line);
  const read = secretReader(settings.environment(), undefined, signal);
  const variables = settings.get("GRAPHFORM_TOKEN_COMMAND_ENV")?.split(/[\s,]+/) ?? [];
  return async () => (await read("GRAPHFORM_TOKEN_COMMAND", { command, variables })) ?? "";
}

/**
 * Parses a program with its arguments, which runs without a shell: a JSON list of strings, or words between blanks. Characters
 * that a shell would interpret are refused, because passing them on would not do what they say.
 */
function commandOf(line: string): readonly string[] {
  const text = line.trim();
  const words: unknown = text.startsWith("[") ? jsonIn(text) : text.split(/\s+/);
  const isPlain = text.startsWith("[") || !/["'`$\\|&;<>()*?{}~#!]/.test(text);
  const isWords = Array.isArray(words) && words.every((word) => typeof word === "string");
  if (isWords && words[0] !== undefined && words[0] !== "" && isPlain) return words;
  throw new GraphformError("users-token", "GRAPHFORM_TOKEN_COMMAND must be a program with plain words", {
    hint: `it runs without a shell; write words that need quotes as a JSON list: '["op", "read", "op://vault/my token"]'`,
  });
}

/** One file (0600) per service in the state folder of the user (0700). A file that cannot be read counts as no session. */
export function sessionFiles(settings: Settings): SessionStore {
  const folder = join(
    settings.get("XDG_STATE_HOME") ?? join(homedir(), ".local", "state"),
    "graphform",
    "sessions",
  );
  const fileOf = (origin: string): string =>
    join(folder, `${createHash("sha256").update(origin).digest("hex").slice(0, 32)}.json`);
  return {
    async load(origin) {
      const stored = objectIn(await readFile(fileOf(origin), "utf8").catch(() => ""));
      return stored?.["origin"] === origin ? tokensOf(stored["tokens"]) : undefined;
    },
    async save(origin, tokens) {
      if (tokens === undefined) return rm(fileOf(origin), { force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await chmod(folder, 0o700);
      await writeAtomically(fileOf(origin), `${JSON.stringify({ origin, tokens })}\n`);
    },
  };
}

function tokensOf(value: unknown): Tokens | undefined {
  if (!isObject(value)) return undefined;
  const { token, refreshToken, renewAt, endsAt, refreshUntil } = value;
  if (typeof token !== "string" || typeof renewAt !== "number" || typeof refreshUntil !== "number")
    return undefined;
  const ends = typeof endsAt === "number" ? { endsAt } : {};
  return { token, renewAt, refreshUntil, ...ends, ...defined({ refreshToken: textIn(refreshToken) }) };
}
