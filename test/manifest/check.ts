import { cloudAccount } from "../../src/kinds/cloud-account.ts";
import { instance } from "../../src/kinds/instance.ts";
import { network } from "../../src/kinds/network.ts";
import { user } from "../../src/kinds/user.ts";
import { parseManifest } from "../../src/manifest/parse.ts";
import { type ManifestInputs, type Resolution, resolveManifest } from "../../src/manifest/resolve.ts";
import type { SecretText } from "../../src/manifest/secrets.ts";
import type { Problem } from "../../src/model/errors.ts";
import { type Kind, kindRegistry } from "../../src/model/kind.ts";
import { compileValidators } from "../support/compile-validators.ts";
import { testProfile } from "./test-profile.ts";

export const allKinds: readonly Kind[] = [cloudAccount, network, instance, user];

/** Every secret is there and says who it is. */
const namedSecrets: SecretText = (name) => `text of ${name}`;

export const testInputs: ManifestInputs = {
  kinds: kindRegistry(allKinds),
  validators: compileValidators(allKinds),
  profile: testProfile,
  variables: {},
  secretText: namedSecrets,
  seal: (text) => ({ $secret: `sealed ${text}` }),
  today: "2026-06-01",
};

/** Resolves a manifest of one file, called m.yaml, or of several. */
export function check(
  text: string | readonly (readonly [string, string])[],
  inputs: Partial<ManifestInputs> = {},
): Promise<Resolution> {
  const sources =
    typeof text === "string"
      ? [{ path: "m.yaml", text }]
      : text.map(([path, inner]) => ({ path, text: inner }));
  return resolveManifest(parseManifest(sources), { ...testInputs, ...inputs });
}

/** A problem in one line: `m.yaml:3:5 code message`. */
export function line({ range, code, message }: Problem): string {
  return `${range.file}:${range.start.line}:${range.start.column} ${code} ${message}`;
}
