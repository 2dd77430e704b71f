import { secretsAtHand } from "../manifest/read-secret.ts";
import { type Masker, maskerOf } from "../model/mask.ts";
import { type Project, secretsOf } from "../project/project.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Masks the secrets of a project in everything that is printed from now on, as far as they are at hand: a service may
 * repeat one to a command that needs none. Returns the masker, for what the service says in its own words.
 */
export async function maskSecrets(
  project: Pick<Project, "parsed" | "profile" | "variables">,
  env: NodeJS.ProcessEnv,
  terminal: Terminal,
): Promise<Masker> {
  const vault = await secretsOf(project, secretsAtHand(env));
  const masker = maskerOf(vault.texts);
  terminal.redactWith(masker.text);
  return masker;
}
