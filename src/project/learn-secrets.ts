/** @module Adds the secrets of a manifest to those that no word of others may repeat. */
import { secretsAtHand } from "../manifest/read-secret.ts";
import type { Vault } from "../model/sealed.ts";
import { loginsIn } from "../model/userinfo.ts";
import { type Project, secretsOf } from "./project.ts";
import type { Settings } from "./settings.ts";

/** Adds the secrets that a run has sealed, and the logins in addresses anywhere in its manifest and its variables. */
export function learnSecrets(
  { parsed, variables }: Pick<Project, "parsed" | "variables">,
  vault: Vault,
  { secrets }: Settings,
): void {
  secrets.add([...vault.texts(), ...loginsIn(parsed.value ?? null), ...loginsIn({ ...variables })]);
}

/** Adds every secret that can be read without running a command, for work that needs none: a service may repeat one. */
export async function learnSecretsAtHand(
  project: Pick<Project, "parsed" | "profile" | "variables">,
  settings: Settings,
): Promise<void> {
  learnSecrets(project, await secretsOf(project, secretsAtHand(settings.environment())), settings);
}
