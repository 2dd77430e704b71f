import { secretsAtHand } from "../manifest/read-secret.ts";
import { redactor } from "../state/redact.ts";
import { type Project, secretsOf } from "./project.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Masks the secrets of a project in everything that is printed from now on, as far as they are at hand: a service may
 * repeat one to a command that needs none.
 */
export async function maskSecrets(
  project: Pick<Project, "parsed" | "profile" | "variables">,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<void> {
  terminal.redactWith(redactor(await secretsOf(project, secretsAtHand(env))));
}
