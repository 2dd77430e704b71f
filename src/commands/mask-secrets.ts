/** @module Masks the secrets of a project in the output of commands that need no secret. */
import { secretsAtHand } from "../manifest/read-secret.ts";
import { type Masker, maskerOf } from "../model/mask.ts";
import { maskedTexts } from "../project/masked-texts.ts";
import { type Project, secretsOf } from "../project/project.ts";
import type { Settings } from "../project/settings.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Masks every secret that can be read without running a command: a service may repeat one in its answer. Returns the masker,
 * which also hides secrets in messages of the service.
 */
export async function maskSecrets(
  project: Pick<Project, "parsed" | "profile" | "variables">,
  settings: Settings,
  terminal: Terminal,
): Promise<Masker> {
  const vault = await secretsOf(project, secretsAtHand(settings.environment()));
  const masker = maskerOf(maskedTexts(project, vault));
  terminal.redactWith(masker.text);
  return masker;
}
