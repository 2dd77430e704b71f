/** @module Signs in to a service and out of it, and keeps the session. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { SessionStore } from "../hosting/session/session.ts";
import { asError, exitCodes, GraphformError, isGraphformError } from "../model/errors.ts";
import { connect, sessionFiles } from "../project/connect-service.ts";
import { locateService, type ServiceLocation } from "../project/locate-service.ts";
import { escapeText } from "../report/typeset.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { type Invocation, serviceTarget } from "./with-run.ts";

/** `login`: signs in and keeps the session, not the password. A kept session would not prove that the password is right, so it is not used. */
export async function login({ options, settings, terminal }: Invocation): Promise<number> {
  const location = await locate({ options, settings });
  const username = settings.get("GRAPHFORM_USERNAME") ?? (await ask("User name: ", false, terminal));
  const password = settings.get("GRAPHFORM_PASSWORD") ?? (await ask("Password: ", true, terminal));
  const store: SessionStore = { ...sessionFiles(settings), load: async () => undefined };
  const service = await connect(location, options, settings, () => undefined, {
    credentials: { username, password },
    sessionStore: store,
  });
  const endsAt = await service.signIn().finally(() => service.close());
  const ending = endsAt && `${new Date(endsAt).toISOString()}: this service gives no token to renew it`;
  const who = `${new URL(location.platformUrl).origin} as ${escapeText(username, 100)}`;
  terminal.out(`Signed in at ${who}; the session is kept until ${ending ?? "logout"}.\n`);
  return exitCodes.done;
}

/** `logout`: ends the session at the service, if the profile has an operation for it, and deletes the stored session. */
export async function logout({ options, settings, terminal }: Invocation): Promise<number> {
  const location = await locate({ options, settings });
  const { origin } = new URL(location.platformUrl);
  const store = sessionFiles(settings);
  if ((await store.load(origin)) === undefined) {
    terminal.out(`No session is kept for ${origin}.\n`);
    return exitCodes.done;
  }
  const service = await connect(location, options, settings, () => undefined, { sessionStore: store });
  let done = `Signed out at ${origin}.`;
  try {
    if (!(await service.signOut())) done = `The session at ${origin} had expired; it is no longer kept.`;
  } catch (error) {
    terminal.err(`the service did not accept the sign-out: ${escapeText(asError(error).message)}\n`);
    done = `The session for ${origin} is no longer kept; it may stay valid at the service until it expires.`;
  } finally {
    await store.save(origin, undefined);
    await service.close();
  }
  terminal.out(`${done}\n`);
  return exitCodes.done;
}

async function locate(invocation: Pick<Invocation, "options" | "settings">): Promise<ServiceLocation> {
  try {
    const { options, settings } = invocation;
    return await locateService(await serviceTarget(invocation), options, settings);
  } catch (error) {
    if (!isGraphformError(error) || !["no-platform", "no-service"].includes(error.code)) throw error;
    throw new GraphformError("no-service", "no service is configured to sign in to", {
      hint: "name it in the manifest's service section, with GRAPHFORM_PLATFORM_URL or --platform-url",
    });
  }
}

/** Asks a person on the terminal. Throws `no-credentials` if there is none. */
async function ask(question: string, isHidden: boolean, terminal: Terminal): Promise<string> {
  if (terminal.interactive) return askPerson(question, isHidden, process.stdin, process.stderr);
  throw new GraphformError("no-credentials", "no credentials, and no terminal to ask on", {
    hint: "set GRAPHFORM_USERNAME and GRAPHFORM_PASSWORD",
  });
}

/** Reads one line, without showing it if `isHidden`. Throws `interrupted` (exit 130) at Ctrl-C, and if the input ends without an answer. */
export async function askPerson(
  question: string,
  isHidden: boolean,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  output.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output: isHidden ? silent : output, terminal: true });
  let isAnswered = false;
  try {
    return await new Promise<string>((resolve, reject) => {
      reader.once("line", (line) => {
        isAnswered = true;
        resolve(line);
      });
      const { interrupted: exitCode } = exitCodes;
      const giveUp = (): void =>
        reject(new GraphformError("interrupted", "interrupted: not signed in", { exitCode }));
      reader.once("SIGINT", giveUp);
      reader.once("close", giveUp);
    });
  } finally {
    reader.close();
    if (isHidden || !isAnswered) output.write("\n");
  }
}
