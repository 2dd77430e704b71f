/** @module Collects the texts of a project that no output shows. */
import { loginsOf } from "../manifest/problems/manifest-redactor.ts";
import { stateSecrets } from "../manifest/problems/state-secrets.ts";
import type { Vault } from "../model/sealed.ts";
import type { Project } from "./project.ts";

/** The secrets of a run, and the credentials in addresses anywhere in its manifest and its variables. */
export function maskedTexts(
  { parsed, variables }: Pick<Project, "parsed" | "variables">,
  vault: Vault,
): () => ReadonlySet<string> {
  const logins = [
    ...stateSecrets(parsed.value?.["state"] ?? null),
    ...loginsOf(parsed.value ?? null),
    ...loginsOf({ ...variables }),
  ];
  return () => (logins.length === 0 ? vault.texts() : new Set([...vault.texts(), ...logins]));
}
