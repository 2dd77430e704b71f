import { access, constants } from "node:fs/promises";
import { createService } from "../hosting/client.ts";
import type { Client, ServiceOptions } from "../hosting/service-options.ts";
import type { Clock } from "../model/clock.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { keptSessions } from "./kept-sessions.ts";
import { findLocalPlatform, localSubscription, noLocalPlatform } from "./local-platform.ts";
import type { ManifestOptions } from "./options.ts";
import type { Project } from "./project.ts";

/** A service with a way to let go of its connections. */
export type Connection = Client;

/**
 * The service of a project: option, environment, manifest, and at last the local platform of this folder.
 * Nothing is sent until the first request.
 */
export async function connect(
  project: Pick<Project, "header" | "profile">,
  options: ManifestOptions,
  env: NodeJS.ProcessEnv,
  clock: Clock,
  trace: (line: string) => void,
): Promise<Connection> {
  const { service } = project.header;
  const { profile } = project;
  const named =
    options.platformUrl ?? env["GRAPHFORM_PLATFORM_URL"] ?? service?.platformUrl ?? profile.platformUrl;
  const local = await findLocalPlatform();
  const platformUrl = named ?? (local?.isRunning === true ? local.url : undefined);
  if (platformUrl === undefined) throw service === undefined ? noLocalPlatform() : noUrl();
  const isLocal = local !== undefined && URL.parse(platformUrl)?.origin === new URL(local.url).origin;
  const usersUrl =
    options.usersUrl ??
    env["GRAPHFORM_USERS_URL"] ??
    service?.usersUrl ??
    (isLocal ? local.usersUrl : profile.usersUrl);
  const subscriptionId =
    options.subscription ??
    env["GRAPHFORM_SUBSCRIPTION_ID"] ??
    service?.subscriptionId ??
    (isLocal ? localSubscription : undefined);
  const caFile = env["GRAPHFORM_CA_FILE"] ?? (isLocal ? local.caFile : undefined);
  if (caFile !== undefined) await assertReadable(caFile);
  const token = env["GRAPHFORM_TOKEN"];
  const signIn = await signInWith(env, platformUrl, isLocal ? local : undefined);
  const { timing } = profile;
  return createService({
    profile: isLocal && !local.hasDatabases ? { ...profile, timing: { ...timing, endpoint: 0 } } : profile,
    platformUrl,
    clock,
    trace,
    ...(usersUrl === undefined ? {} : { usersUrl }),
    ...(subscriptionId === undefined ? {} : { subscriptionId }),
    ...(caFile === undefined ? {} : { caFile }),
    ...(token === undefined ? {} : { usersToken: async () => token }),
    ...(options.parallelism === undefined ? {} : { parallelism: options.parallelism }),
    ...signIn,
  });
}

/** A session that `login` keeps is used and renewed; otherwise every command signs in for itself. */
async function signInWith(
  env: NodeJS.ProcessEnv,
  platformUrl: string,
  local: { readonly username: string; readonly password: string } | undefined,
): Promise<Pick<ServiceOptions, "credentials" | "sessionStore">> {
  const origin = URL.parse(platformUrl)?.origin;
  const store = keptSessions(env);
  const isKept = local === undefined && origin !== undefined && (await store.load(origin)) !== undefined;
  if (!isKept) return { credentials: credentials(env, local) };
  const { GRAPHFORM_USERNAME: username, GRAPHFORM_PASSWORD: password } = env;
  if (username === undefined || password === undefined) return { sessionStore: store };
  return { sessionStore: store, credentials: { username, password } };
}

function credentials(
  env: NodeJS.ProcessEnv,
  local: { readonly username: string; readonly password: string } | undefined,
): { readonly username: string; readonly password: string } {
  const { GRAPHFORM_USERNAME: username, GRAPHFORM_PASSWORD: password } = env;
  if (username !== undefined && password !== undefined) return { username, password };
  if (local !== undefined) return { username: local.username, password: local.password };
  throw new GraphformError("no-credentials", "there is nothing to sign in with", {
    hint: "set GRAPHFORM_USERNAME and GRAPHFORM_PASSWORD, or run graphform login",
    exitCode: exitCodes.error,
  });
}

function noUrl(): GraphformError {
  return new GraphformError(
    "no-service",
    "the manifest has a service section, and nothing says where the service is",
    {
      hint: "set service.platformUrl, GRAPHFORM_PLATFORM_URL or --platform-url",
    },
  );
}

async function assertReadable(caFile: string): Promise<void> {
  try {
    await access(caFile, constants.R_OK);
  } catch (cause) {
    throw new GraphformError("authority-unreadable", `the authority ${caFile} cannot be read`, {
      hint: "GRAPHFORM_CA_FILE names a PEM file; for the local platform it is made when that starts",
      cause,
    });
  }
}
