import { createService } from "../hosting/client.ts";
import { systemClock } from "../model/clock.ts";
import { exitCodes, GraphformError } from "../model/errors.ts";
import { escapeText } from "../report/escape.ts";
import { askPerson } from "./ask-person.ts";
import { keptSessions } from "./kept-sessions.ts";
import { findLocalPlatform } from "./local-platform.ts";
import type { ManifestOptions } from "./options.ts";
import { type ServiceTarget, serviceTarget } from "./service-target.ts";
import type { Terminal } from "./terminal.ts";

/** `login`: signs in and keeps the session, not the password, for the commands that follow. */
export async function login(
  options: ManifestOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const target = await serviceTarget(options, env, terminal);
  const platformUrl = await urlOf(target, options, env);
  const username = env["GRAPHFORM_USERNAME"] ?? (await ask("User name: ", false, terminal));
  const password = env["GRAPHFORM_PASSWORD"] ?? (await ask("Password: ", true, terminal));
  const service = client(target, platformUrl, env, { username, password });
  try {
    await service.signIn();
  } finally {
    await service.close();
  }
  terminal.out(
    `Signed in at ${new URL(platformUrl).origin} as ${escapeText(username, 100)}; the session is kept until logout.\n`,
  );
  return exitCodes.done;
}

/** `logout`: ends the session at the service, where the profile can, and drops what was kept of it. */
export async function logout(
  options: ManifestOptions,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<number> {
  const target = await serviceTarget(options, env, terminal);
  const platformUrl = await urlOf(target, options, env);
  const { origin } = new URL(platformUrl);
  const store = keptSessions(env);
  if ((await store.load(origin)) === undefined) {
    terminal.out(`No session is kept for ${origin}.\n`);
    return exitCodes.done;
  }
  const service = client(target, platformUrl, env, undefined);
  try {
    await service.signOut();
  } catch (error) {
    terminal.err(
      `the service did not take the sign-out: ${escapeText(error instanceof Error ? error.message : String(error))}\n`,
    );
  } finally {
    await store.save(origin, undefined);
    await service.close();
  }
  terminal.out(`Signed out at ${origin}.\n`);
  return exitCodes.done;
}

function client(
  { profile }: ServiceTarget,
  platformUrl: string,
  env: NodeJS.ProcessEnv,
  credentials: { readonly username: string; readonly password: string } | undefined,
): ReturnType<typeof createService> {
  const caFile = env["GRAPHFORM_CA_FILE"];
  return createService({
    profile,
    platformUrl,
    clock: systemClock,
    sessionStore: keptSessions(env),
    ...(credentials === undefined ? {} : { credentials }),
    ...(caFile === undefined ? {} : { caFile }),
  });
}

async function urlOf(
  { header, profile }: ServiceTarget,
  options: ManifestOptions,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const named =
    options.platformUrl ??
    env["GRAPHFORM_PLATFORM_URL"] ??
    header.service?.platformUrl ??
    profile.platformUrl;
  const url = named ?? (await findLocalPlatform())?.url;
  if (url !== undefined && URL.canParse(url)) return url;
  throw new GraphformError("no-service", "nothing says which service to sign in to", {
    hint: "name it in the manifest's service section, with GRAPHFORM_PLATFORM_URL or --platform-url",
  });
}

/** Asks a person, where there is one. */
async function ask(question: string, isHidden: boolean, terminal: Terminal): Promise<string> {
  if (terminal.interactive) return askPerson(question, isHidden, process.stdin, process.stderr);
  throw new GraphformError("no-credentials", "there is nothing to sign in with, and nobody to ask", {
    hint: "set GRAPHFORM_USERNAME and GRAPHFORM_PASSWORD",
  });
}
